"""Lives of jobs as a table: who does what once all pods run, how the job ends, and which pods are left.

The same rows are played on a cluster (test_table.py) and on this machine (tests/local/test_table.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

EVERYTHING, RUNNING, NOTHING = "everything goes", "what still runs goes", "nothing goes"

POLICIES = {
    "Always": {"Completed": EVERYTHING, "Failed": EVERYTHING},
    "OnCompletion": {"Completed": EVERYTHING, "Failed": RUNNING},
    "OnFailure": {"Completed": RUNNING, "Failed": EVERYTHING},
    "Never": {"Completed": NOTHING, "Failed": NOTHING},
    "Running": {"Completed": RUNNING, "Failed": RUNNING},
    "unset": {"Completed": RUNNING, "Failed": RUNNING},
}
MODES = {"ps": (1, 2), "collective": (0, 2), "single": (0, 1)}


@dataclass(frozen=True)
class Scenario:
    """`exits` says which pods (`worker-0`) exit with which code; the others run on."""

    name: str
    servers: int
    workers: int
    exits: tuple[tuple[str, int], ...]
    policy: str
    end: str
    failure: tuple[str, int] | None = None

    @property
    def pods(self) -> set[str]:
        return {f"ps-{i}" for i in range(self.servers)} | {f"worker-{i}" for i in range(self.workers)}

    @property
    def left(self) -> set[str]:
        """The pods that are there in the end."""
        finished = {pod for pod, _ in self.exits}
        return {EVERYTHING: set(), RUNNING: finished, NOTHING: self.pods}[POLICIES[self.policy][self.end]]

    @property
    def services_left(self) -> set[str]:
        return set() if POLICIES[self.policy][self.end] == EVERYTHING else self.pods


def _cleaning() -> list[Scenario]:
    rows = []
    for policy, mode, end in product(POLICIES, MODES, ("Completed", "Failed")):
        servers, workers = MODES[mode]
        everybody = tuple((f"worker-{i}", 0) for i in range(workers))
        exits, failure = (everybody, None) if end == "Completed" else ((("worker-0", 3),), ("worker-0", 3))
        name = f"{policy}-{mode}-{end}".lower()
        rows.append(Scenario(name, servers, workers, exits, policy, end, failure))
    return rows


SCENARIOS = [
    *_cleaning(),
    Scenario("a-server-fails", 2, 2, (("ps-1", 139),), "Running", "Failed", ("ps-1", 139)),
    Scenario("a-server-exits-early", 1, 1, (("ps-0", 0), ("worker-0", 0)), "Never", "Completed"),
    Scenario("out-of-memory", 0, 2, (("worker-1", 137),), "Running", "Failed", ("worker-1", 137)),
    Scenario("all-workers-fail", 1, 2, (("worker-0", 7), ("worker-1", 7)), "Never", "Failed", ("worker-", 7)),
]
