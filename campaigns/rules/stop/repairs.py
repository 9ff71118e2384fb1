"""When a failed candidate may be repaired within its round (R17)."""

from __future__ import annotations

from collections.abc import Sequence

from campaigns.rules.verdict.decision import Reason

MOST_REPAIRS = 3
# What another change of the same idea may mend. Who cheats is not helped, a host is not mended by
# another source, and what is right but slower was tried.
MENDABLE = frozenset(
    {Reason.BUILD_FAILED, Reason.WRONG_RESULT, Reason.CRASHED, Reason.TIMED_OUT},
)


def may_repair(reason: Reason, earlier: Sequence[bool]) -> bool:
    """Whether the proposer is asked (again) for a repair.

    earlier: for each answer in this round whether it was a candidate; who had none has none left.
    """
    return reason in MENDABLE and len(earlier) < MOST_REPAIRS and all(earlier)
