"""examples/resnet as a job that goes on from its checkpoint after it was interrupted."""

from tests.cluster.waiting import wait_until
from tests.node.conftest import Tell
from tests.node.jobs import mounted, on_node, with_env
from tests.node.user import ENDS, Manifest, User, read
from tests.training.reports import reports

NAME = "resnet"


def learning(user: User, **spec: object) -> Manifest:
    """With a checkpoint after each epoch on a folder of the node, and time enough for a fault."""
    (job,) = read("examples/resnet/job.yaml")
    worker = mounted(job["spec"]["worker"], "/checkpoints", on_node(f"/tmp/checkpoints-{user.namespace}"))
    job["spec"] |= {"worker": with_env(worker, {"CHECKPOINT_DIR": "/checkpoints", "EPOCHS": "3"}), **spec}
    return job


def wait_for_checkpoint(user: User) -> None:
    checkpoint = user.cluster.folder / "tmp" / f"checkpoints-{user.namespace}" / "resnet.pdparams"
    wait_until(checkpoint.exists, 120)


def goes_on(user: User, after: str, tell: Tell) -> Manifest:
    """The job's status when it has completed from its checkpoint; `after` says what befell it."""
    status = user.in_phase(NAME, *ENDS)
    assert status["phase"] == "Completed", status
    said = reports("\n".join(user.kubectl("logs", f"{NAME}-worker-{index}") for index in range(2)))
    for one in said:
        fell = " > ".join(f"{each:.3f}" for each in one["losses"])
        tell(f"{after}: worker {one['rank']} of {one['world']} went on after epoch {one['resumed_after']}, loss {fell}")
        assert one["resumed_after"] > 0
    assert [(one["rank"], one["world"]) for one in said] == [(0, 2), (1, 2)]
    return status
