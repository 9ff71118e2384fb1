"""How long an evaluation may take, whose time it was, and how much of it may bring nothing."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from campaigns.evaluator.contract.errors import HostBusy, HostError
from campaigns.evaluator.contract.report import CROWDED

# A host is too busy where the judge has waited for a CPU in this share of all its time, and others
# kept it crowded. A candidate alone could make it wait, by threads that spin.
STARVED_SHARE = 0.4
TOO_BUSY = "the host is too busy to measure on"

# The name under which the time of the problem's own code is counted.
REFERENCE = "ref.py"


class TimeBudget:
    """The time that an evaluation may take, and how long the judge has waited for each arm.

    limit_s: for each of so many `contenders`. reference_s: how long the problem's `ref.py` has
    taken, which is no arm's fault. lost_s: how long may bring nothing. others: the share of the
    CPUs that others have kept busy so far.
    """

    def __init__(
        self,
        limit_s: float = math.inf,
        reference_s: Callable[[], float] = lambda: 0.0,
        lost_s: float = math.inf,
        others: Callable[[], float] = lambda: 0.0,
        contenders: int = 1,
    ) -> None:
        self.limit_s = limit_s
        self._began, self._starved_s = time.monotonic(), waited_for_cpu_s()
        self.deadline = self._began + limit_s * contenders
        self._lost_s, self._others = lost_s, others
        self._waited_s: dict[str, float] = {}
        self._again_s = 0.0
        self._reference_s, self._before_s = reference_s, reference_s()

    @contextlib.contextmanager
    def waiting_for(self, name: str) -> Iterator[None]:
        since = time.monotonic()
        try:
            yield
        finally:
            passed_s = time.monotonic() - since
            self._waited_s[name] = self._waited_s.get(name, 0.0) + passed_s

    def left_s(self, name: str) -> float:
        """Seconds until an arm, or the whole evaluation, has taken too long."""
        own_s = self.limit_s - self._waited_s.get(name, 0.0)
        return min(self.deadline - time.monotonic(), own_s)

    def again(self, seconds: float) -> None:
        """Count time that brought nothing. Raises HostError once it is too much."""
        self._again_s += seconds
        if self._again_s > self._lost_s:
            # A candidate's own threads could bring it here; only others' load is waited for.
            error = HostBusy if self.is_crowded() else HostError
            raise error(f"{TOO_BUSY}: {self._again_s:.0f} s went into bursts made again")

    def require_cpu(self) -> None:
        """Raise HostBusy where others have kept the judge from working."""
        starved_s = waited_for_cpu_s() - self._starved_s
        passed_s = time.monotonic() - self._began
        if starved_s <= max(self._lost_s, STARVED_SHARE * passed_s):
            return
        if self.is_crowded():
            raise HostBusy(
                f"{TOO_BUSY}: of {passed_s:.0f} s the judge waited {starved_s:.0f} s for a CPU, "
                f"and others used {self._others():.0%} of them"
            )

    def is_crowded(self) -> bool:
        """Whether others have kept so many CPUs busy that even a time limit says little."""
        return self._others() >= CROWDED

    def spent_by(self) -> str:
        """The arm, or `REFERENCE`, that took most of the time."""
        spent_s = {**self._waited_s, REFERENCE: self._reference_s() - self._before_s}
        return max(spent_s, key=spent_s.__getitem__)


def waited_for_cpu_s() -> float:
    """Seconds so far in which this thread was ready to run and had no CPU; 0 where not told.

    https://docs.kernel.org/scheduler/sched-stats.html
    """
    with contextlib.suppress(OSError):
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    return 0.0
