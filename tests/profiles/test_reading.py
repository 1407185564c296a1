"""What lines tell: of the programs that are known, of one's own, and of anything else nothing."""

from __future__ import annotations

import itertools
import math
import time
from datetime import datetime, timedelta
from typing import get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlejob.api import ProgressPolicy
from paddlejob.api.spec import ProfileName
from paddlejob.core import Reading
from paddlejob.profiles.ear import LINES, LONGEST_LINE, MOST_AT_ONCE, READINGS, Ear
from paddlejob.profiles.profile import profile
from paddlejob.profiles.values import duration, number, whole
from tests.builders import NOW


def hear(*lines: str, policy: ProgressPolicy | None = None, ear: Ear | None = None) -> tuple[Reading, ...]:
    """One line a second."""
    listening = ear or Ear(policy)
    listening.hear([(NOW + timedelta(seconds=at), line) for at, line in enumerate(lines)])
    return listening.said(NOW).readings


def places(*lines: str, policy: ProgressPolicy | None = None) -> list[tuple[int | None, int | None]]:
    return [(one.step, one.total) for one in hear(*lines, policy=policy)]


@pytest.mark.parametrize("name", get_args(ProfileName))
def test_every_profile_is_a_file_that_can_be_read(name: ProfileName) -> None:
    assert profile(name).profile.lines


PLAIN: dict[str, tuple[str, int | None, int | None, float | None]] = {
    "our resnet": ("worker 0/2: epoch 3 of 10: loss 0.3456, accuracy 0.5", 3, 10, 0.3456),
    "our elastic job": ("step 50 of 200 with 2 workers: loss 0.0312", 50, 200, 0.0312),
    "an epoch that begins": ("worker 0/2: epoch 1 of 4 begins", 0, 4, None),
    "steps": ("step 120/4000", 120, 4000, None),
    "epochs": ("Epoch 3/10", 2, 10, None),
    "a loss": ("loss: 0.32", None, None, 0.32),
    "as tutorials print it": ("Epoch [3/10], Step [100/600], Loss: 0.5", 1300, 6000, 0.5),
    "with words before": ("2026-01-01 INFO train | iter 7/9 | loss=1e-3", 7, 9, 0.001),
    "a loss that is gone": ("step 3/10 loss: nan", 3, 10, None),
    "a loss beyond all numbers": (f"step 3/10 loss: 1e{'9' * 30}", 3, 10, None),
}


@pytest.mark.parametrize(("line", "step", "total", "loss"), PLAIN.values(), ids=PLAIN.keys())
def test_plain_lines(line: str, step: int | None, total: int | None, loss: float | None) -> None:
    (found,) = hear(line)
    assert (found.step, found.total, found.loss) == (step, total, loss)


SILENT = (
    "",
    "loading 3/10 files",
    "packet loss: 3",
    "step 11/10",
    "footsteps 3/10",
    f"step {'9' * 5000}/10",
    f"epoch {'9' * 5000}/{'9' * 5001}",
    "epoch 11/10: loss of data",
    "GET /epoch/3/10 404",
    "loss of 3 workers",
    "Downloading: 45%|####      | 45/100 [00:10<00:12]",
)


@pytest.mark.parametrize("line", SILENT)
def test_what_is_not_known_tells_nothing(line: str) -> None:
    assert hear(line) == ()


def test_whether_steps_are_those_of_an_epoch_is_found_out_before_any_is_told() -> None:
    assert places("epoch 1/10 step 5/600") == []
    assert places("epoch 1/10 step 5/600", "epoch 1/10 step 100/600") == [(100, 6000)]
    assert places("epoch 1/2 step 5/20", "epoch 2/2 step 11/20", "epoch 2/2 step 12/20") == [(11, 20), (12, 20)]


OCR = "epoch: [{}/10000000000], global_step: {}, lr: 0.001, loss: 0.5, reader_cost: 0.1 s"
BEYOND: dict[str, tuple[list[str], tuple[int | None, int | None]]] = {
    "steps of epochs": (["epoch 5000000000/10000000000 step 1/10000000000 loss: 0.5"], (None, None)),
    "steps to do, learned from the epoch before": (
        [OCR.format(1, 10**9), OCR.format(2, 10**9 + 1), OCR.format(2, 10**9 + 2)],
        (10**9 + 2, None),
    ),
    "steps to do": (["epoch 1/10000000000", "step 1/10000000000 - loss: 0.5 - 3ms/step"], (1, None)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_products_that_no_status_can_hold_are_not_told(name: str) -> None:
    lines, expected = BEYOND[name]
    assert places(*lines)[-1] == expected


def test_an_evaluation_is_no_training() -> None:
    lines = ["Epoch 1/2", "step 10/10 - loss: 0.5 - 3ms/step", "Eval begin...", "step 5/10 - loss: 0.1 - 3ms/step"]
    assert places(*lines)[-1] == (10, 20)
    assert places(*lines, "Eval samples: 10", "Epoch 2/2", "step 5/10 - loss: 0.4 - 3ms/step")[-1] == (15, 20)


EVALUATIONS = (
    "eval step 5/10 loss: 0.1",
    "[EVAL] step: 5/10",
    "Validation | epoch 1/3 | step 5/10",
    "Evaluating epoch 1/3, step 3/10",
    "evaluating the model on 3 sets: iter 7 of 9",
    "test: batch 5/10, iter 5/10",
    "val_step 3/10",
    "2026-01-01 INFO Inference, step 3/10",
    "Warm-up step 3/10",
)


@pytest.mark.parametrize("line", EVALUATIONS)
def test_what_is_said_to_be_something_else_is_no_training(line: str) -> None:
    assert hear(line) == ()
    assert places("step 100/1000 loss: 0.5", line, "step 101/1000") == [(100, 1000), (101, 1000)]
    (before, _) = hear("step 100/1000 loss: 0.5", "step 101/1000")
    assert hear("step 100/1000 loss: 0.5", line)[-1] == before


TRAININGS = (
    "train step 5/10, val loss 0.3",
    "epoch 5/10: validation accuracy 0.5",
    "val_loss 0.3, test accuracy 0.2, step 5/10",
    "tester-7 train.py: step 5/10",
)


@pytest.mark.parametrize("line", TRAININGS)
def test_that_a_line_tells_of_an_evaluation_too_does_no_harm(line: str) -> None:
    (found,) = hear(line)
    assert found.step in (4, 5)


def test_after_lines_were_missed_steps_of_an_epoch_are_not_taken_for_those_of_all() -> None:
    ear = Ear(None)
    hear("epoch 7/10", "step 5/100", "epoch 8/10", "step 5/100", ear=ear)
    for at, line in enumerate(("step 6/100", "step 7/100")):
        ear.hear([(NOW + timedelta(seconds=20 + at), line)], missed=True)
    assert ear.said(NOW).readings[-1].step == 705
    ear.hear([(NOW + timedelta(seconds=30 + at), line) for at, line in enumerate(("epoch 9/10", "step 5/100"))])
    assert [(one.step, one.total) for one in ear.said(NOW).readings[-2:]] == [(705, 1000), (805, 1000)]


def test_after_lines_were_missed_a_program_that_names_epochs_still_does() -> None:
    ear = Ear(None)
    hear("epoch 1/10", "step 5/100", ear=ear)
    ear.hear([(NOW + timedelta(seconds=20), "step 6/100")], missed=True)
    assert [one.total for one in ear.said(NOW).readings] == [10]


def test_epochs_that_are_counted_from_0_are_all_counted() -> None:
    assert places("epoch 0/4", "epoch 0/4: loss 0.5", "epoch 1/4", "epoch 3/4: loss 0.5") == [(0, 4), (1, 4), (4, 4)]
    assert places("Epoch [0/2], step [50/100]", "Epoch [1/2], step [50/100]")[-1] == (150, 200)


def test_after_lines_were_missed_steps_of_all_epochs_go_on() -> None:
    ear = Ear(None)
    hear("epoch 1/2 step 5/20", "epoch 2/2 step 11/20", ear=ear)
    ear.hear([(NOW + timedelta(seconds=20), "step 12/20")], missed=True)
    assert ear.said(NOW).readings[-1].step == 12


def test_an_epoch_without_a_number_of_epochs_tells_how_much_was_done_and_not_how_much_there_is() -> None:
    assert places("Epoch 1", "step 5/100", "step 99/100") == []
    assert places("Epoch 1", "step 99/100", "Epoch 2", "step 5/100") == [(105, None)]
    assert places("epoch 1, step 99/300", "epoch 2, step 101/300") == [(101, 300)]
    assert places("Epoch: [0] step [ 99/100]", "Epoch: [1] step [  5/100]") == [(105, None)]
    assert places("epoch: 10", "step 5/100") == [(5, 100)]  # a setting


def test_a_step_of_an_epoch_that_was_missed_is_not_told() -> None:
    ear = Ear(ProgressPolicy(profile="model-fit"))
    hear("Epoch 3/10", "step 10/100 - loss: 0.5 - 3ms/step", ear=ear)
    ear.hear([(NOW + timedelta(seconds=9), "step 20/100 - loss: 0.4 - 3ms/step")], missed=True)
    last = ear.said(NOW).readings[-1]
    assert (last.step, last.loss) == (210, 0.4)


def test_what_one_line_does_not_tell_is_as_it_was() -> None:
    told = hear("step 3/10 loss: 0.5", "step 4/10", "loss: 0.4")
    assert [(one.step, one.loss) for one in told] == [(3, 0.5), (4, 0.4)]


def test_the_users_own_pattern() -> None:
    policy = ProgressPolicy(
        pattern=r"done=(?P<step>\d+) of (?P<total>\d+) err=(?P<loss>\S+) f1=(?P<f1>\S+) (?P<eta>\S+)"
    )
    (found,) = hear("step 1/2", "done=3 of 9 err=0.25 f1=0.75 1:30", policy=policy)
    assert (found.step, found.total, found.loss, found.metrics, found.eta) == (3, 9, 0.25, {"f1": 0.75}, 90.0)


def test_a_percentage() -> None:
    policy = ProgressPolicy(pattern=r"(?P<percent>\S+)%")
    assert places("45.7%", "146%", "x%", "-1%", policy=policy) == [(45, 100)]


def test_a_pattern_that_an_old_api_server_let_pass_is_told() -> None:
    ear = Ear(ProgressPolicy(pattern="(?P<step>"))
    assert hear("step 3/10", ear=ear) == ()
    assert "missing" in ear.said(NOW).unreadable


def test_speed_and_time_as_programs_say_it() -> None:
    (found,) = hear(
        "[TRAIN] epoch: 1, iter: 5/10, loss: 0.5, lr: 0.1, batch_cost: 0.5, ips: 2 samples/sec | ETA 00:01:02"
    )
    assert (found.speed, found.eta) == (2.0, 62.0)


NUMBERS: dict[str, float | None] = {
    **{"0.5": 0.5, "1e-05": 1e-05, "-3": -3.0, "0.123456789": 0.123457},
    **{"nan": None, "inf": None, "-Infinity": None, "1e400": None, "1e16": None, "": None, "x": None},
    **{"9" * 5000: None},
}
WHOLE: dict[str, int | None] = {"7": 7, "1,200": 1200, "1" + "0" * 16: None, "²": None, "": None, "9" * 5000: None}
DURATIONS: dict[str, float | None] = {
    **{"12s": 12.0, "90": 90.0, "1:30": 90.0, "01:00:00": 3600.0, "2 days, 0:00:01": 172801.0, "0:00:01.500000": 1.0},
    **{"": None, "soon": None, "99999 days, 0:00:00": None, "9" * 5000: None},
}


def test_numbers_of_a_sane_size() -> None:
    assert {text: number(text) for text in NUMBERS} == NUMBERS
    assert {text: whole(text) for text in WHOLE} == WHOLE
    assert {text: duration(text) for text in DURATIONS} == DURATIONS
    assert (number(None), whole(None), duration(None)) == (None, None, None)


def test_little_is_kept_and_nothing_that_a_terminal_obeys() -> None:
    ear = Ear(None)
    ear.hear([(NOW + timedelta(seconds=at), f"\x1b[2Jstep {at}/5000 \x07{'x' * 10**6}") for at in range(80)])
    said = ear.said(NOW)
    assert (len(said.lines), len(said.readings)) == (LINES, READINGS)
    assert all(len(line) <= LONGEST_LINE and line.isprintable() for line in said.lines)
    assert said.readings[-1].step == 79


def test_of_very_many_lines_the_last_ones_are_read() -> None:
    assert len(hear(*[f"step {at}/100000" for at in range(3 * MOST_AT_ONCE)])) == READINGS


def test_a_pattern_that_takes_its_time_is_given_fewer_lines() -> None:
    slow = r"(x?){200}x{400}(?P<step>\d)"
    ear = Ear(ProgressPolicy(pattern=slow))
    lines = [(NOW, "x" * LONGEST_LINE)] * MOST_AT_ONCE
    for _ in range(3):
        ear.hear(lines)
    begun = time.thread_time()
    ear.hear(lines)
    assert time.thread_time() - begun < 0.5


def test_after_a_slow_flood_as_many_lines_are_read_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    ear, seconds = Ear(None), itertools.count()
    with monkeypatch.context() as slow:
        slow.setattr(time, "thread_time", lambda: next(seconds))
        ear.hear([(NOW, "a flood")] * MOST_AT_ONCE)
    for _ in range(10):
        ear.hear([(NOW, "quiet")])
    ear.hear([(NOW, "step 3/10"), *[(NOW, "other words")] * (MOST_AT_ONCE - 1)])
    assert [one.step for one in ear.said(NOW).readings] == [3]


def test_an_unfinished_line_counts_once() -> None:
    ear = Ear(None)
    for at in range(3):
        ear.hear([], unfinished=(NOW + timedelta(seconds=at), "\rstep 3/10\r"))
    said = ear.said(NOW)
    assert (said.changed, said.lines) == (NOW, ("step 3/10",))
    ear.hear([(NOW, "step 3/10")])
    assert ear.said(NOW).lines == ("step 3/10",)


# Numbers, words that programs print, and anything else.
words = st.sampled_from(
    ["epoch", "step", "loss", "Epoch [", "/", " of ", ": ", "[TRAIN]", "nan", "inf", "ETA", "%", "\x1b["]
)
texts = st.lists(words | st.integers().map(str) | st.floats().map(str) | st.text(max_size=5), max_size=12).map("".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(texts, max_size=8))
def test_whatever_is_printed_what_is_read_fits_into_a_status(lines: list[str]) -> None:
    for policy in (None, ProgressPolicy(pattern=r"(?P<step>\S+) (?P<total>\S+) (?P<loss>\S+) (?P<other>.+)")):
        for one in hear(*lines, policy=policy):
            assert one.step is None or 0 <= one.step <= (one.total or math.inf)
            assert msgspec.json.decode(msgspec.json.encode(one), type=Reading) == one
            assert isinstance(one.at, datetime)


def test_what_paddles_own_libraries_log_is_no_movement() -> None:
    ear, line = (
        Ear(None),
        "I1118 23:03:17.339290 11747 brpc_ps_client.cc:704] BrpcPsClient::PrintQueueSize: table 0 size: 0",
    )
    ear.hear([(NOW, "ready"), (NOW + timedelta(seconds=9), line)])
    said = ear.said(NOW)
    assert (said.changed, said.lines) == (NOW, ("ready", line))
    ear.hear([(NOW + timedelta(seconds=10), f"{line} step 3/10")])
    assert ear.said(NOW).changed == NOW + timedelta(seconds=10)


def test_lines_that_nobody_reads_are_movement() -> None:
    ear = Ear(None)
    ear.hear([(NOW, "ready")])
    ear.hear([(NOW + timedelta(seconds=9), "I1118 23:03:17.339290 11747 a.cc:704] none")] * (MOST_AT_ONCE + 1))
    assert ear.said(NOW).changed == NOW + timedelta(seconds=9)
