"""What a person sees while a local job runs: a live table on a terminal, plain lines elsewhere.

Both show the workers' output with a prefix; the table adds state, uptime, restarts and last line of every pod.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from paddlejob.cli.output import PHASES, Lines, show
from paddlejob.local.following import Logs
from paddlejob.local.state import State
from paddlejob.places.words import far, pod_word, restarts, upcoming, uptime
from paddlejob.terminal import plain

BAR_WIDTH = 30
STATES = {"running": "cyan", "succeeded": "green", "failed": "red"}


class View(ABC):
    """Reads the output of all pods, and prints that of the workers line by line."""

    def __init__(self, logs: Path, console: Console) -> None:
        self._logs = Logs(logs)
        self._console = console
        self._state: State | None = None

    def update(self, state: State) -> None:
        self._state = state

    @abstractmethod
    def tick(self, *, last_call: bool = False) -> None:
        """Show what is new; at the last call also an unfinished last line."""

    def close(self) -> None:
        self.tick(last_call=True)

    def _is_worker(self, pod: str) -> bool:
        return self._state is not None and fnmatchcase(pod, f"{self._state.job.metadata.name}-worker-*")

    def _news(self, *, last_call: bool) -> list[tuple[str, str]]:
        if self._state is None:
            return []  # whose lines they are is not known yet: they wait
        news = list(self._logs.news(last_call=last_call))
        return [(log.pod, line) for log, lines in news if self._is_worker(log.pod) for line in lines]


class PlainView(View):
    def __init__(self, logs: Path, console: Console) -> None:
        super().__init__(logs, console)
        self._lines = Lines(console)
        self._phase: str | None = None
        self._shown: tuple[str, str | None] = ("", None)

    def update(self, state: State) -> None:
        super().update(state)
        status, name = state.job.status, state.job.metadata.name
        if status.phase != self._phase:
            if self._phase is not None:  # what pods printed before comes before; nobody has before the first phase
                self.tick(last_call=status.phase == "Completed")
            show(f"{name}: {status.phase}", self._console)
        shown = (status.reason, status.next_attempt_time)
        if status.reason and shown != self._shown and not (status.finished or state.ended):
            show(f"{name}: {status.reason}: {status.message}{upcoming(state.job)}", self._console)
        self._phase, self._shown = status.phase, shown

    def tick(self, *, last_call: bool = False) -> None:
        for pod, line in self._news(last_call=last_call):
            self._lines.show(pod, line)
        for pod, bar in self._logs.bars():
            if self._is_worker(pod):
                self._lines.show_bar(pod, bar)


class LiveView(View):
    def __init__(self, logs: Path, console: Console) -> None:
        super().__init__(logs, console)
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._live.start()
        self._lines = Lines(self._live.console)

    def update(self, state: State) -> None:
        super().update(state)
        self.tick()

    def tick(self, *, last_call: bool = False) -> None:
        for pod, line in self._news(last_call=last_call):
            self._lines.show(pod, line)
        if self._state is not None:
            shown: list[RenderableType] = [_title(self._state), *_progress(self._state), self._table(self._state)]
            self._live.update(Group(*shown), refresh=True)

    def close(self) -> None:
        super().close()
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


def _progress(state: State) -> tuple[Table, ...]:
    """A bar, as soon as the output of the job says how far it is."""
    progress = state.job.status.progress
    if progress is None:
        return ()
    row = Table.grid(padding=(0, 1))
    bar = [] if progress.percent is None else [ProgressBar(completed=progress.percent, width=BAR_WIDTH)]
    row.add_row(*bar, Text(plain(far(progress)), overflow="ellipsis", no_wrap=True))
    return (row,)


def _title(state: State) -> Text:
    """Apart from the table, which is narrow while there are no pods: just then there is most to say."""
    status, name = state.job.status, state.job.metadata.name
    phase = status.phase or "Pending"
    title = Text.assemble((name, "bold"), "  ", (phase, f"bold {PHASES.get(phase, '')}"), f"  {status.mode or ''}")
    if status.reason:
        title.append(plain(f"  {status.reason}: {status.message}{upcoming(state.job)}"), "yellow")
    return title
