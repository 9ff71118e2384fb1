"""When a failed candidate may be repaired within its round (R17)."""

from __future__ import annotations

from collections.abc import Sequence

from campaigns.rules.verdict.decision import Reason

MOST_REPAIRS = 3
# Failures that another version of the same idea may fix. Cheating gets no repair, another source
# does not fix a broken host, and a correct but slower kernel has had its trial.
MENDABLE = frozenset(
    {Reason.BUILD_FAILED, Reason.WRONG_RESULT, Reason.CRASHED, Reason.TIMED_OUT},
)


def may_repair(reason: Reason, earlier: Sequence[bool]) -> bool:
    """Whether to ask the proposer for a repair.

    earlier: for each answer of this round, whether it held a candidate; one without ends the
    repairs.
    """
    return reason in MENDABLE and len(earlier) < MOST_REPAIRS and all(earlier)
