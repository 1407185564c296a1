"""All scripts of lives.py on a real API server, at once; and all the time: never pods of two attempts of one job."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.scenarios.desk import Desk
from tests.scenarios.lives import SCRIPTS
from tests.scenarios.play import Actor, play

pytestmark = [pytest.mark.usefixtures("operator"), pytest.mark.timeout(300)]


def test_every_life_goes_as_its_script_says(desk: Desk) -> None:
    def attempts_never_mix() -> None:
        seen: dict[str, set[str]] = defaultdict(set)
        for pod in desk.objects("pods"):
            labels = pod["metadata"]["labels"]
            seen[labels["batch.paddlepaddle.org/job-name"]].add(labels["batch.paddlepaddle.org/attempt"])
        assert not {job for job, attempts in seen.items() if len(attempts) > 1}, seen

    assert len(SCRIPTS) > 20
    play({name: script(Actor(desk, name)) for name, script in SCRIPTS.items()}, attempts_never_mix)
