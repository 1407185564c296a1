"""A fleet program that only looks around: how many workers does fleet see, and are gradients everybody's?"""

import json

import paddle
import paddle.distributed as dist
from paddle.distributed import fleet

fleet.init(is_collective=True)
rank, world = dist.get_rank(), dist.get_world_size()
everybody: list[paddle.Tensor] = []
dist.all_gather(everybody, paddle.to_tensor([rank]))
model = fleet.distributed_model(paddle.nn.Linear(1, 1))
model(paddle.full([1, 1], float(rank))).backward()
gradient = float(model.parameters()[0].grad)  # of each alone: its rank; of all together: the mean of the ranks
found = {
    "rank": fleet.worker_index(),
    "world": fleet.worker_num(),
    "met": [int(one) for one in everybody],
    "together": world == fleet.worker_num() and gradient == sum(range(world)) / world,
}
print("RESULT " + json.dumps(found), flush=True)
