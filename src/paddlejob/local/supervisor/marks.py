"""What every process of a container carries in its environment, and so do its children unless they drop it."""

from __future__ import annotations

from paddlejob.local.supervisor import proc

# The container's id, for people and for telling orphans apart.
CONTAINER = "PADDLEJOB_CONTAINER"
# Unlike a container's id never the same in two runs: whoever sweeps by it cannot hit another run's processes.
SUPERVISOR = "PADDLEJOB_SUPERVISOR"


def owner(pid: int) -> str | None:
    """The id of the container that the process was born in, if it still says so."""
    prefix = f"{CONTAINER}=".encode()
    for entry in proc.environment(pid) or ():
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("utf-8", "surrogateescape")
    return None
