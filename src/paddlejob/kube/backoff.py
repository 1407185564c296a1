"""How long to wait after a failure: doubling, capped, with jitter so that many who failed do not return together.

Owns the delay only. Who sleeps, and on which clock, is not its business.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    first: float = 0.05
    most: float = 60.0
    rng: random.Random = field(default_factory=random.Random)
    failures: int = 0

    def next(self) -> float:
        """The delay after one more failure: between half of the doubled delay and all of it."""
        # The exponent is capped because 2.0 ** 1024 overflows, and a key may well fail that often.
        ceiling = min(self.most, self.first * 2.0 ** min(self.failures, 64))
        self.failures += 1
        return ceiling * (0.5 + self.rng.random() / 2)

    def reset(self) -> None:
        self.failures = 0
