"""What a person sees while a local job runs: a live table on a terminal, plain lines elsewhere.

Both show the workers' output with a prefix; the table adds state, uptime, restarts and last line of every pod.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from paddlejob.api.names import LABEL_RES_TYPE
from paddlejob.cli.output import COLOURS, Lines, printed, show, upcoming
from paddlejob.cli.pod_words import pod_word, restarts, uptime
from paddlejob.local.following import Logs
from paddlejob.local.state import State
from paddlejob.terminal import plain

PHASES = {"Completed": "bold green", "Failed": "bold red", "Running": "bold cyan"}
STATES = {"running": "cyan", "succeeded": "green", "failed": "red"}


class View(Protocol):
    def update(self, state: State) -> None: ...

    def tick(self, *, last_call: bool = False) -> None: ...

    def close(self) -> None: ...


class _Workers:
    """The output of all pods; that of workers is also told line by line."""

    def __init__(self, folder: Path) -> None:
        self._logs = Logs(folder)
        self.workers: set[str] = set()

    def know(self, state: State) -> None:
        for pod in state.pods:
            if pod.metadata.labels.get(LABEL_RES_TYPE) == "worker":
                self.workers.add(pod.metadata.name)

    def news(self, *, last_call: bool = False) -> list[tuple[str, str]]:
        """Pod and line, of workers only; the others' lines are read too, for the table."""
        news = list(self._logs.news(last_call=last_call))
        return [(pod, line) for pod, lines in news if pod in self.workers for line in lines]

    def bars(self) -> list[tuple[str, str]]:
        return [(pod, bar) for pod, bar in self._logs.bars() if pod in self.workers]

    def last(self, pod: str) -> str:
        return self._logs.last(pod)


class PlainView:
    def __init__(self, logs: Path, console: Console) -> None:
        self._logs = _Workers(logs)
        self._console = console
        self._lines = Lines(console)
        self._phase: str | None = None
        self._told: tuple[str, str | None] = ("", None)

    def update(self, state: State) -> None:
        self._logs.know(state)
        status, name = state.job.status, state.job.metadata.name
        if status.phase != self._phase:
            self.tick(last_call=status.phase == "Completed")  # what was said before comes before
            self._say(f"{name}: {status.phase}")
        told = (status.reason, status.next_attempt_time)
        if status.reason and told != self._told and not (status.finished or state.ended):
            self._say(f"{name}: {status.reason}: {status.message}{upcoming(state.job)}")
        self._phase, self._told = status.phase, told

    def tick(self, *, last_call: bool = False) -> None:
        for pod, line in self._logs.news(last_call=last_call):
            self._lines.show(pod, line)
        for pod, bar in self._logs.bars():
            self._lines.show_bar(pod, bar)

    def close(self) -> None:
        self.tick(last_call=True)

    def _say(self, text: str) -> None:
        show(text, self._console)


class LiveView:
    def __init__(self, logs: Path, console: Console) -> None:
        self._logs = _Workers(logs)
        self._console = console
        self._state: State | None = None
        self._colours: dict[str, str] = {}
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._live.start()

    def update(self, state: State) -> None:
        self._logs.know(state)
        self._state = state
        self.tick()

    def tick(self, *, last_call: bool = False) -> None:
        for pod, line in self._logs.news(last_call=last_call):
            colour = self._colours.setdefault(pod, COLOURS[len(self._colours) % len(COLOURS)])
            self._live.console.print(Text.assemble((f"{pod} ", colour), printed(line)), soft_wrap=True)
        if self._state is not None:
            self._live.update(Group(_title(self._state), self._table(self._state)), refresh=True)

    def close(self) -> None:
        self.tick(last_call=True)
        self._live.stop()

    def _table(self, state: State) -> Table:
        table = Table(box=None, header_style="dim", pad_edge=False)
        for column in ("POD", "STATE", "UP", "RESTARTS"):
            table.add_column(column, no_wrap=True)
        table.add_column("LAST LINE", no_wrap=True, overflow="ellipsis", ratio=1)
        for pod in state.pods:
            word = pod_word(pod)
            table.add_row(
                pod.metadata.name,
                Text(word, STATES.get(pod.state, "yellow")),
                uptime(pod),
                str(restarts(pod)),
                Text(plain(self._logs.last(pod.metadata.name)), "dim"),
            )
        return table


def _title(state: State) -> Text:
    """Apart from the table, which is narrow while there are no pods: just then there is most to say."""
    status, name = state.job.status, state.job.metadata.name
    phase = status.phase or "Pending"
    title = Text.assemble((name, "bold"), "  ", (phase, PHASES.get(phase, "bold")), f"  {status.mode or ''}")
    if status.reason:
        title.append(plain(f"  {status.reason}: {status.message}{upcoming(state.job)}"), "yellow")
    return title
