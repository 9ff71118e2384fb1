"""A quick test takes a second: what takes more is made cheaper, or has the mark `long`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import settings

# Processor time of this process, which no load on the host changes as it changes a clock. Ten
# seconds, since no answer may depend on load and a core that is shared takes twice as long; more
# on a slow host, by how much longer it takes for `_loop`; what a test is the first to import in
# its process is not its own.
LIMIT_S = 10.0
IMPORT_S = 0.05
LOOP_S = 0.08  # of `_loop` on the host that the limit was chosen on
# They wait for a process, a browser or a database, or are measured by none but `make test-all`.
FREE = ("judged", "browser", "long", "gpu", "sentinel")
ADVICE = (
    "it used {used:.1f} s of processor time; a quick test takes one (tests/quick.py): share what "
    "it builds (tests/kept_rows.py, tests/campaigns/finished.py), take fewer draws, or mark it "
    "with @pytest.mark.long"
)


@dataclass(frozen=True)
class QuickRule:
    """What this process had used, and loaded, as a test began."""

    holds: bool
    began_s: float
    modules: int

    @classmethod
    def of(cls, item: pytest.Item) -> QuickRule:
        """The rule for this test, from now on."""
        django_db = item.get_closest_marker("django_db")
        flushes = django_db is not None and bool(django_db.kwargs.get("transaction"))
        # `make test-all` draws more examples.
        free = (
            flushes
            or not settings.default.derandomize
            or any(item.get_closest_marker(name) for name in FREE)
        )
        return cls(not free, time.process_time(), len(sys.modules))

    def check(self) -> None:
        """Fail the test where it took too long."""
        used = time.process_time() - self.began_s
        allowed = LIMIT_S + IMPORT_S * (len(sys.modules) - self.modules)
        if self.holds and used > allowed and used > allowed * slowness():
            pytest.fail(ADVICE.format(used=used), pytrace=False)


@cache
def slowness() -> float:
    """How many times as long this host takes as the one that the limit was chosen on; 1 or more."""
    return max(1.0, min(_loop(), _loop()) / LOOP_S)


def _loop() -> float:
    began, total = time.process_time(), 0
    for number in range(2_000_000):
        total += number * number % 7
    return time.process_time() - began
