"""Many scripts at once: each acts, then waits for what it `yield`s, while all the others go on.

A script is a generator of checks. A check that is falsy or raises what NOT_YET names is asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.cluster.waiting import NOT_YET
from tests.scenarios.desk import Desk, Json, a_job

Check = Callable[[], object]
Script = Iterator[Check]
PATIENCE = 90.0
PAUSE = 0.1


@dataclass(frozen=True)
class Actor:
    """One job of the play, and the person who cares for it."""

    desk: Desk
    name: str

    def submit(self, **spec: object) -> None:
        self.desk.submit(a_job(self.name, **spec))

    def ask(self, **spec: object) -> None:
        self.desk.change(self.name, spec)

    @property
    def status(self) -> Json:
        return self.desk.status(self.name)

    def says(self, **fields: object) -> Check:
        """The status holds exactly this under these names."""

        def check() -> bool:
            status = self.status
            found = {name: status.get(name) for name in fields}
            assert found == fields, found
            return True

        return check

    def phase(self, phase: str) -> Check:
        return self.says(phase=phase)

    def condition(self, type_: str, status: str) -> Check:
        return lambda: any(
            one["type"] == type_ and one["status"] == status for one in self.status.get("conditions", [])
        )

    def pods(self) -> dict[str, Json]:
        """Without the job's name: `worker-0`."""
        prefix = f"{self.name}-"
        return {name.removeprefix(prefix): pod for name, pod in self.desk.pods().items() if name.startswith(prefix)}

    def attempts(self) -> list[str]:
        """To which attempt each pod belongs."""
        return [one["metadata"]["labels"]["batch.paddlepaddle.org/attempt"] for one in self.pods().values()]

    def there(self, *names: str) -> Check:
        return lambda: set(self.pods()) == set(names)

    def end(self, pod: str, how: str = "succeeded", **annotations: str) -> None:
        self.desk.steer(f"{self.name}-{pod}", ends=how, **annotations)

    def finish(self) -> None:
        self.desk.finish_workers(self.name)

    def delete_pod(self, pod: str) -> None:
        self.desk.delete_pod(f"{self.name}-{pod}")

    def told(self) -> list[str]:
        return self.desk.told(self.name)


def play(scripts: dict[str, Script], always: Callable[[], None]) -> None:
    """To the end of all scripts. `always` is asked all the time and raises if something is wrong."""
    waiting: dict[str, tuple[Check, float]] = {}
    for name in list(scripts):
        _go_on(name, scripts, waiting)
    while waiting:
        always()
        for name, (check, deadline) in list(waiting.items()):
            if _holds(name, check, deadline):
                _go_on(name, scripts, waiting)
        time.sleep(PAUSE)


def _go_on(name: str, scripts: dict[str, Script], waiting: dict[str, tuple[Check, float]]) -> None:
    waiting.pop(name, None)
    try:
        check = next(scripts[name])
    except StopIteration:
        return
    except AssertionError as error:
        raise AssertionError(f"{name}: {error}") from error
    waiting[name] = (check, time.monotonic() + PATIENCE)


def _holds(name: str, check: Check, deadline: float) -> bool:
    try:
        if check():
            return True
        why = "it does not hold"
    except NOT_YET as error:
        why = str(error)
    if time.monotonic() > deadline:
        raise AssertionError(f"{name}: not within {PATIENCE:.0f} s: {why}")
    return False
