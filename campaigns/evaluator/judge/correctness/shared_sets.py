"""The unusual inputs of every case, with their answers: made once, for the checks of both arms.

Finding the tolerance of a set runs the reference several times, which takes longer than the calls.
So this is done while the compilers run, as far as it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.case_context import CaseContext
from campaigns.evaluator.judge.correctness.trial import Trial, sets_as_trials
from campaigns.evaluator.problem import CheckSpec

# Of all cases together. What does not fit is made anew for each arm.
KEPT_BYTES = {"cpu": 1 << 29, "cuda": 4 << 30}
# What a set takes, in bytes of a slot: its inputs, the answer in float64, and the same of the
# largest input alone.
SIZE = 5


class SharedSets:
    """The sets of a problem by case."""

    def __init__(self, check: CheckSpec) -> None:
        self._check = check
        self._made: dict[str, list[Trial]] = {}
        self._rest: dict[str, Iterator[Trial]] = {}
        self._bytes = 0

    def prepare(self, context: CaseContext, is_over: Callable[[], bool]) -> None:
        """Make those of one case ahead, until `is_over`."""
        if not self._keeps(context):
            return
        try:
            for _ in self.of(context):
                if is_over():
                    return
        except BadReference:
            # The check comes upon it again, and says so where it belongs.
            del self._rest[context.case.name]
            self._made[context.case.name].clear()

    def of(self, context: CaseContext) -> Iterator[Trial]:
        """Those of one case. Raises BadReference where the reference refuses a declared one."""
        if not self._keeps(context):
            yield from self._fresh(context)
            return
        name = context.case.name
        made = self._made[name]
        rest = self._rest.setdefault(name, self._fresh(context))
        yield from list(made)
        for trial in rest:
            made.append(trial)
            yield trial

    def drop(self, case: str) -> None:
        """Give back the memory of a case that is checked."""
        self._made.pop(case, None)
        self._rest.pop(case, None)

    def _fresh(self, context: CaseContext) -> Iterator[Trial]:
        return sets_as_trials(context, self._check, context.supply.example())

    def _keeps(self, context: CaseContext) -> bool:
        """Whether those of this case are kept; room for them is set aside when first asked."""
        if context.case.name in self._made:
            return True
        needed = SIZE * context.layout.stride * len(self._check.sets)
        if self._bytes + needed > KEPT_BYTES[context.device.type]:
            return False
        self._bytes += needed
        self._made[context.case.name] = []
        return True
