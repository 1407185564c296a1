"""A fleet program as a static graph, which goes by the endpoints alone: how many workers does it see?"""

import json

import paddle
from paddle.distributed import fleet

paddle.enable_static()
fleet.init(is_collective=True)
endpoints = fleet.worker_endpoints()
met = [endpoints.index(one) for one in endpoints]
print("RESULT " + json.dumps({"rank": fleet.worker_index(), "world": fleet.worker_num(), "met": met}), flush=True)
