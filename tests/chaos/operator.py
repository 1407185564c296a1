"""An operator whose clock is wrong: `python -m tests.chaos.operator OFFSET FLAGS…`, otherwise `paddlejob operator`.

Every wall clock that the package reads is off by so many seconds; the monotonic one, which nobody sets, is right.
"""

from __future__ import annotations

import datetime as clock
import sys
from datetime import timedelta, tzinfo

import paddlejob.cli.operator  # noqa: F401 - all that it imports must be there before clocks are set
from paddlejob.cli.main import main


def run(offset: timedelta, arguments: list[str]) -> None:
    class Shifted(clock.datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Shifted:
            return super().now(tz) + offset

    for name, module in list(sys.modules.items()):
        if name.startswith("paddlejob") and getattr(module, "datetime", None) is clock.datetime:
            setattr(module, "datetime", Shifted)  # noqa: B010 - no module is known to have one
    sys.argv[1:] = ["operator", *arguments]
    main()


if __name__ == "__main__":
    run(timedelta(seconds=float(sys.argv[1])), sys.argv[2:])
