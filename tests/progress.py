"""How far a run of the tests is: a line every few seconds, with a counter and what is left by the last run's measure.

Passed tests print nothing of their own; a failed one is named at once, its story comes at the end.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from tools.installer import cache
from tools.step import spoken

EVERY = 5.0


def pytest_configure(config: pytest.Config) -> None:
    tells = not config.option.collectonly and not hasattr(config, "workerinput")  # a worker's controller tells
    if tells:
        config.pluginmanager.register(Progress(config, cache() / "tests.json"), "progress")


class Progress:
    def __init__(self, config: pytest.Config, record: Path) -> None:
        self._config = config
        self._record = record
        self._began = time.monotonic()
        self._took: dict[str, float] = {}
        self._failed = 0
        self._all: set[str] = set()
        self._running: dict[str, float] = {}
        self._last = self._read()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._speak, daemon=True)

    def pytest_sessionstart(self) -> None:
        self._write(self._seed())
        self._thread.start()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        if self._failed:  # pages of failures stand between here and the beginning
            self._write(self._seed())

    def _seed(self) -> str:
        seed = self._config.getoption("randomly_seed", None)
        return f"    order of seed {seed}; to have it again: PYTEST_ADDOPTS=--randomly-seed={seed}"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._all = {item.nodeid for item in session.items}

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._all = set(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took[report.nodeid] = self._took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._failed += 1
            self._write(f"FAILED {report.nodeid}")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letters: the counter tells what passed, and what failed was named."""
        if report.passed:
            return "passed" if report.when == "call" else "", "", ""
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        return None

    def pytest_sessionfinish(self) -> None:
        self._ended.set()
        self._thread.join()
        whole = self._all and len(self._took) == len(self._all)
        if whole:
            known = self._last[0] | {name: round(took, 2) for name, took in self._took.items()}
            self._record.parent.mkdir(parents=True, exist_ok=True)
            self._record.write_text(json.dumps((known, self._at_once())))

    def line(self) -> str:
        gone = time.monotonic() - self._began
        if not self._all:
            return f"    collecting the tests, {spoken(gone)}"
        done = len(self._took) - len(self._running)
        parts = [f"{max(done, 0):,} of {len(self._all):,} tests", f"{spoken(gone)} gone", self._left()]
        if self._failed:
            parts.append(f"{self._failed} FAILED")
        if self._running:
            longest = min(self._running, key=self._running.__getitem__)
            seconds = time.monotonic() - self._running[longest]
            if seconds > EVERY:
                parts.append(f"{longest.rsplit('/', 1)[-1]} for {seconds:.0f} s")
        return "    " + " · ".join(parts)

    def _left(self) -> str:
        """By what each test took the last time, on as many cores at once as then."""
        known, at_once = self._last
        missing = self._all - set(self._took)
        if len(missing & set(known)) < 0.9 * len(missing):
            return "no earlier run to estimate from"
        left = sum(known.get(name, 0.0) for name in missing | set(self._running)) / at_once
        return f"about {spoken(left)} left"

    def _at_once(self) -> float:
        """How many tests ran at once, on average."""
        return round(sum(self._took.values()) / max(time.monotonic() - self._began, 1.0), 2) or 1.0

    def _read(self) -> tuple[dict[str, float], float]:
        """What each test took the last time, and how many ran at once."""
        try:
            tests, at_once = json.loads(self._record.read_text())
            return dict(tests), float(at_once)
        except (OSError, ValueError, TypeError):
            return {}, 1.0

    def _speak(self) -> None:
        while not self._ended.wait(EVERY):
            self._write(self.line())

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if isinstance(reporter, pytest.TerminalReporter):
            reporter.ensure_newline()
            reporter.write_line(line)
            reporter.flush()
