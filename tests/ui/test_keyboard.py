"""The page without a mouse: every control is reached by Tab, is seen to have the focus, and does its work."""

from __future__ import annotations

from tests.ui.browser import NARROW, Visitor
from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served

# All that can be pressed, chosen or written in, as far as a person can see it. Of a list of tabs one is on the way.
CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, select, textarea")].filter((one) =>
  one.checkVisibility() && !one.disabled && one.tabIndex >= 0).length"""
# What has the focus; nothing at the end of the page, where the browser's own controls begin.
FOCUS = """() => {
  const on = document.activeElement;
  if (!on || on === document.body) return null;
  const look = getComputedStyle(on);
  const box = on.getBoundingClientRect();
  const seen = on.checkVisibility() && box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 &&
    box.left < innerWidth && box.top < innerHeight;
  on.dataset.visited ??= "";
  return { what: on.outerHTML.slice(0, 90), marked: look.outlineStyle !== "none", seen,
    control: on.matches("a[href], button, input, select, textarea") };
}"""
FROM_THE_TOP = """() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}"""
VISITED = """() => [...document.querySelectorAll("[data-visited]")].filter((one) =>
  one.matches("a[href], button, input, select, textarea")).length"""


def tabs_through(page: Visitor) -> None:
    """Every control once, each in sight and marked when its turn comes."""
    page.page.evaluate(FROM_THE_TOP)
    wanted = page.page.evaluate(CONTROLS)
    for _ in range(wanted + 12):
        page.page.keyboard.press("Tab")
        focus = page.page.evaluate(FOCUS)
        if focus is None:
            break
        assert focus["seen"], focus["what"]
        assert focus["marked"] or not focus["control"], focus["what"]
    assert page.page.evaluate(VISITED) >= wanted


def test_tab_leads_to_every_control_and_shows_where_it_is(laptop: Laptop, served: Served, visit: Visit) -> None:
    laptop.submit("still", "echo done")
    laptop.bench.ended("still")
    for options in ({}, {"viewport": NARROW}):
        page = visit(served.address, **options)
        page.page.get_by_role("link", name="still", exact=True).wait_for()
        page.page.locator("#search").fill("still")
        page.page.get_by_role("link", name="train", exact=True).wait_for(state="detached")
        tabs_through(page)
        page.job("still")
        page.page.locator(".pods tbody tr").wait_for()
        tabs_through(page)
        page.tab("Logs")
        page.sees("1 lines, complete")
        tabs_through(page)
        page.tab("YAML")
        page.page.locator("pre.source", has_text="kind: PaddleJob").wait_for()
        tabs_through(page)
        page.page.get_by_role("link", name="New job").click()
        page.page.locator("textarea").fill("kind: PaddleJob\n")
        page.page.locator(".notes li").first.wait_for()
        tabs_through(page)


def tab_to(page: Visitor, words: str) -> None:
    for _ in range(60):
        page.page.keyboard.press("Tab")
        on = page.page.evaluate("() => (document.activeElement.ariaLabel ?? '') + document.activeElement.textContent")
        if words in on:
            return
    raise AssertionError(f"Tab does not lead to {words}")


def test_a_job_is_written_submitted_and_looked_at_by_keyboard(page: Visitor) -> None:
    keyboard = page.page.keyboard
    page.page.get_by_role("link", name="train", exact=True).wait_for()
    keyboard.press("n")
    page.page.get_by_role("heading", name="New job").wait_for()
    tab_to(page, "Insert an example")
    keyboard.press("Enter")
    page.sees("Nothing is wrong with it.")
    tab_to(page, "The job as YAML")
    keyboard.press("Control+a")
    keyboard.insert_text(EXAMPLE)
    page.sees("Nothing is wrong with it.")
    keyboard.press("Escape")
    tab_to(page, "Submit")
    keyboard.press("Enter")
    page.page.get_by_role("dialog", name="Submit typed?").wait_for()
    keyboard.press("Enter")
    page.page.get_by_role("heading", name="typed", level=1).wait_for()
    page.page.locator(".state", has_text="Completed").wait_for()
    keyboard.press("2")
    page.sees("typed by hand")
    tab_to(page, "Search the logs")
    keyboard.type("hand")
    keyboard.press("Enter")
    page.page.locator(".line.current", has_text="typed by hand").wait_for()


def test_a_job_is_deleted_by_keyboard_and_not_by_one_key_too_many(laptop: Laptop, page: Visitor) -> None:
    keyboard = page.page.keyboard
    laptop.submit("short", "true")
    page.job("short")
    page.page.get_by_role("button", name="Delete").wait_for()
    tab_to(page, "Delete")
    keyboard.press("Enter")
    page.page.get_by_role("dialog", name="Delete short?").wait_for()
    keyboard.press("Enter")
    page.page.get_by_role("dialog").wait_for(state="detached")
    assert "short" in laptop.names()
    keyboard.press("Enter")
    page.page.get_by_role("dialog", name="Delete short?").wait_for()
    keyboard.press("Tab")
    keyboard.press("Enter")
    laptop.until_gone("short")
    page.sees("This job was deleted.")
    keyboard.press("Escape")
    page.page.get_by_label("Search jobs").wait_for()


EXAMPLE = """apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: typed
spec:
  worker:
    template:
      spec:
        containers:
          - name: paddle
            image: any
            command: ["sh", "-c", "echo typed by hand"]
"""
