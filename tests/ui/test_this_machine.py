"""The page over jobs that really run on this machine, as a person uses it, in a real browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.cluster.waiting import wait_until
from tests.ui.blocking import Blocked, watched
from tests.ui.browser import Visitor
from tests.ui.laptop import Laptop

THIRD = "loss: 0.9966, learning_rate: 1e-05, global_step: 3, interval_steps_per_second: 4.71"
GOOD = """apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: written
spec:
  worker:
    template:
      spec:
        containers:
          - name: paddle
            image: any
            command: ["sh", "-c", "echo I was written in a browser"]
"""


def names(page: Visitor) -> list[str]:
    return [str(one) for one in page.page.locator("table.jobs a.job").all_inner_texts()]


def shows(page: Visitor, *wanted: str) -> None:
    wait_until(lambda: names(page) == list(wanted))


def test_the_list_shows_every_job_and_changes_by_itself(page: Visitor, laptop: Laptop) -> None:
    wait_until(lambda: {"train", "broken", "hello"} <= set(names(page)))
    row = page.page.locator("tr", has=page.page.get_by_role("link", name="broken", exact=True))
    assert [one for one in row.locator("td").all_inner_texts() if one][:4] == ["broken", "Failed", "Single", "0/1"]
    assert "Error" in row.inner_text()
    laptop.submit("late", "sleep 0.2")
    page.page.get_by_role("link", name="late", exact=True).wait_for()
    late = page.page.locator("tr", has=page.page.get_by_role("link", name="late", exact=True))
    late.get_by_text("Completed").wait_for()
    laptop.bench.paddlejob("delete", "--local", "late")
    late.wait_for(state="detached")


def test_jobs_are_searched_filtered_and_sorted(page: Visitor) -> None:
    page.page.get_by_role("link", name="train", exact=True).wait_for()
    page.page.get_by_label("Search jobs").fill("collective COMPL hell")
    shows(page, "hello")
    page.page.get_by_label("Search jobs").fill("no such job")
    page.sees("No job matches")
    page.page.get_by_role("button", name="Clear the filters").click()
    page.page.get_by_role("button", name="Failed").click()
    wait_until(lambda: "broken" in names(page) and "hello" not in names(page))
    assert page.page.get_by_role("button", name="Failed").get_attribute("aria-pressed") == "true"
    page.page.get_by_role("button", name="All").click()

    def shown(order: list[str]) -> bool:
        return [one for one in names(page) if one in order] == order

    for direction, order in (("ascending", ["broken", "hello", "train"]), ("descending", ["train", "hello", "broken"])):
        page.page.get_by_role("button", name="Name").click()
        assert page.page.get_by_role("columnheader", name="Name").get_attribute("aria-sort") == direction
        wait_until(partial(shown, order))


def test_a_failed_job_says_why_in_the_words_of_describe(page: Visitor, laptop: Laptop) -> None:
    page.job("broken")
    described = laptop.bench.paddlejob("describe", "--local", "broken").stdout
    why = next(line for line in described.splitlines() if line.startswith("Why:"))[11:].strip()
    assert page.page.locator(".why p").inner_text() == why
    page.sees("What failed first")
    assert page.page.locator(".failure pre").inner_text() == "Traceback: no such file <b>data.csv</b>"
    moments = page.page.locator(".moments .what").all_inner_texts()
    assert moments[0] == "Created"
    assert moments[-1] == f"Failed: {why}"
    cells = page.page.locator(".pods tbody td").all_inner_texts()
    assert cells[:2] == ["broken-worker-0", "exit 3"]
    assert cells[5] == "3"
    page.page.locator(".events").get_by_text("Failed", exact=True).wait_for()


def test_a_running_job_is_followed_to_its_deletion(laptop: Laptop, page: Visitor) -> None:
    laptop.submit("short", "sleep 60", 2)
    page.job("short")
    page.page.locator(".pods").get_by_text("running").nth(1).wait_for()
    assert page.page.locator(".lanes .bar.busy").count() == 2
    page.page.get_by_role("button", name="Delete").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert "short" in laptop.names()
    page.page.get_by_role("button", name="Delete").click()
    page.sees("The job is stopped and deleted with its logs and its data here.")
    page.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.sees("short is being deleted")
    page.sees("This job was deleted.")
    laptop.until_gone("short")


def test_logs_have_their_colours_and_nothing_else_that_pods_send_to_a_terminal(page: Visitor) -> None:
    page.job("hello")
    page.tab("Logs")
    page.sees("after the noise")
    lines = page.page.locator(".line:not(.heading) .text").all_inner_texts()
    assert lines[0] == "hello green and red"
    assert lines[2] == "after the noise"
    assert page.page.locator(".line .f2.b", has_text="green").count() == 2
    assert page.page.locator(".line.heading").first.inner_text() == "hello-worker-0, attempt 1"
    page.page.get_by_label("Pods", exact=True).select_option(label="hello-worker-1")
    wait_until(lambda: page.page.locator(".line .who").all_inner_texts() == ["worker-1"] * 3)
    page.sees("3 lines, complete")


def test_logs_are_followed_searched_and_downloaded(page: Visitor, tmp_path: Path) -> None:
    page.job("train")
    page.tab("Logs")
    page.page.get_by_label("Pods", exact=True).select_option(label="train-worker-0")
    last = page.page.locator(".line .text").last
    first = last.inner_text()
    wait_until(lambda: last.inner_text() != first)
    page.page.get_by_label("Search the logs").fill("loss")
    wait_until(lambda: set(page.page.locator("mark").all_inner_texts()) == {"loss"})
    page.page.get_by_label("Search the logs").fill("GLOBAL_STEP: 3,")
    page.page.get_by_label("Only matches").check()
    wait_until(lambda: page.page.locator(".line .text").all_inner_texts() == [THIRD])
    assert page.page.locator("mark").inner_text() == "global_step: 3,"
    page.page.get_by_label("Only matches").uncheck()
    page.page.get_by_role("button", name="Next match").click()
    page.page.locator(".line.current", has_text=THIRD).wait_for()
    assert not page.page.get_by_label("Follow").is_checked()
    with page.page.expect_download() as download:
        page.page.get_by_role("link", name="Download").click()
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    assert kept.name == "train.log"
    said = kept.read_text().splitlines()
    assert (said[0], said[4]) == ("==== train-worker-0, start 1 ====", f"[train-worker-0] {THIRD}")
    assert "worker-1" not in kept.read_text()


def test_the_logs_of_attempts_are_apart(laptop: Laptop, page: Visitor) -> None:
    script = 'if [ -e "$0.seen" ]; then echo "second time"; else touch "$0.seen"; echo "first time"; exit 1; fi'
    laptop.submit("again", script.replace("$0", str(laptop.bench.folder / "again")), backoffLimit=1)
    laptop.bench.ended("again")
    page.job("again")
    page.page.locator(".moments .restarted").wait_for()
    page.tab("Logs")
    page.sees("second time")
    headings = page.page.locator(".line.heading").all_inner_texts()
    assert headings == ["again-worker-0, attempt 1", "again-worker-0, attempt 2"]
    page.page.get_by_label("Attempts").select_option(label="Attempt 1")
    wait_until(lambda: page.page.locator(".line .text").all_inner_texts() == ["first time"])


def test_a_hundred_thousand_lines_do_not_freeze_the_page(laptop: Laptop, page: Visitor) -> None:
    laptop.submit("much", "seq -f 'line number %06.0f of a log that is rather long, with a few more words' 1 100000")
    laptop.bench.ended("much")
    with watched(page, Blocked()) as blocked:
        page.job("much")
        page.tab("Logs")
        page.sees("100,000 lines, complete")
        page.sees("line number 100000")
        assert page.page.locator(".line").count() < 200
        page.page.get_by_label("Search the logs").fill("number 012345")
        page.sees("0 of 1")
        page.page.get_by_label("Search the logs").press("Enter")
        page.page.locator(".line.current", has_text="012345").wait_for()
        page.page.locator(".log").evaluate("element => { element.scrollTop = 0; }")
        page.sees("line number 000001")
    assert blocked.tasks
    assert blocked.ms < 150, blocked


def test_the_yaml_has_no_secret_in_it(laptop: Laptop, page: Visitor, tmp_path: Path) -> None:
    laptop.submit("quiet", "export DB_PASSWORD=geheim1; echo --token=geheim2 >/dev/null")
    page.job("quiet")
    page.tab("YAML")
    source = page.page.locator("pre.source")
    wait_until(lambda: "PaddleJob" in source.inner_text())
    assert "geheim" not in source.inner_text()
    assert "DB_PASSWORD=••••••" in source.inner_text()
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "quiet.yaml")
    assert "geheim" not in (tmp_path / "quiet.yaml").read_text()
    page.page.get_by_role("button", name="Copy").click()
    page.page.get_by_role("button", name="Copied").wait_for()
    assert "kind: PaddleJob" in page.page.evaluate("() => navigator.clipboard.readText()")


def test_a_job_is_written_corrected_and_submitted(laptop: Laptop, page: Visitor) -> None:
    page.page.get_by_role("link", name="New job").click()
    area = page.page.get_by_label("The job as YAML")
    submit = page.page.get_by_role("button", name="Submit")
    area.fill(GOOD.replace("image: any", "imago: any").replace("worker:", "workers:"))
    page.sees("Line 6: spec.workers: there is no such field: did you mean `worker`?")
    assert page.page.locator(".numbers .wrong").all_inner_texts() == ["6"]
    assert submit.is_disabled()
    area.fill(GOOD.replace("image: any", "imago: any"))
    page.sees("Line 11: spec.worker.template.spec.containers[0].imago: there is no such field")
    area.fill(GOOD)
    page.sees("Nothing is wrong with it.")
    submit.click()
    page.sees("It is submitted to namespace default of this machine")
    page.page.get_by_role("dialog").get_by_role("button", name="Submit").click()
    page.page.get_by_role("heading", name="written", level=1).wait_for()
    page.page.locator(".state", has_text="Completed").wait_for()
    assert "written" in laptop.names()


def test_everything_can_be_reached_by_keyboard(page: Visitor) -> None:
    keyboard = page.page.keyboard
    page.page.get_by_role("link", name="train", exact=True).wait_for()
    keyboard.press("/")
    keyboard.type("broken")
    shows(page, "broken")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    page.page.get_by_role("heading", name="broken", level=1).wait_for()
    keyboard.press("2")
    assert page.page.get_by_role("tab", name="Logs").get_attribute("aria-selected") == "true"
    page.page.get_by_role("tab", name="Logs").focus()
    keyboard.press("ArrowRight")
    assert page.page.get_by_role("tab", name="YAML").get_attribute("aria-selected") == "true"
    keyboard.press("Escape")
    page.page.get_by_label("Search jobs").wait_for()
    keyboard.press("?")
    page.page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    keyboard.press("Escape")
    before = page.page.evaluate("() => document.documentElement.dataset.theme")
    keyboard.press("t")
    keyboard.press("t")
    assert page.page.evaluate("() => document.documentElement.dataset.theme") != before
    keyboard.press("n")
    page.page.get_by_role("heading", name="New job").wait_for()
    keyboard.press("Escape")
    page.page.get_by_label("Search jobs").fill("")


@pytest.mark.parametrize("command", [("ui", "--port", "70000"), ("ui", "--host", "203.0.113.9")])
def test_an_address_that_cannot_be_had_is_told_in_one_line(laptop: Laptop, command: tuple[str, ...]) -> None:
    done = laptop.bench.paddlejob(*command, "--no-browser")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
