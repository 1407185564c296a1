"""One structured line per decision: readable text for people, JSON for machines."""

from __future__ import annotations

import sys
from typing import Literal

import structlog

LogFormat = Literal["text", "json"]


def configure(form: LogFormat) -> None:
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([structlog.processors.format_exc_info] if form == "json" else []),
            last,
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
