"""Is a candidate right? Fresh seeds, repeats, near-duplicates, unlike inputs and hidden sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from campaigns.evaluator.contract import Case, CaseReport, Outcome
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import ALIGN, Shift
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.arena import Guards, Slots
from campaigns.evaluator.judge.correctness.case_context import Answers, CaseContext, let_settle
from campaigns.evaluator.judge.correctness.fresh_inputs import (
    Poison,
    SeparateInputs,
    changed_input,
    fill,
)
from campaigns.evaluator.judge.correctness.output_comparison import (
    OutputComparison,
    Tolerance,
    compare,
)
from campaigns.evaluator.judge.correctness.tolerance import Draws
from campaigns.evaluator.judge.correctness.trial import Trial, look_at, sets_as_trials
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.wire import Ask

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import CheckSpec

# Lays a case out for a runner, base addresses shifted or not; None where its slots do not fit.
# Raises BadReference where the setup refuses it.
Laying = Callable[[Case, Shift | None], tuple[CaseContext, Slots] | None]

# The most calls for which the runners are stopped once: each of them holds a slot.
BATCH = 6
UNORDERED = (
    "right only when the device was waited for before and after the call: it reads or writes "
    "outside of the order of the stream that it was called on, or is not right every time"
)


@dataclass(frozen=True, slots=True)
class _PosedCall:
    """One call that is made ready: `slots` is the one that it works on, the `number`-th of all."""

    number: int
    slots: Slots
    trial: Trial
    truth: SeparateInputs
    guards: Guards
    poison: Poison


class CaseCheck:
    """The check of one arm on one case."""

    def __init__(self, channel: RunnerChannel, context: CaseContext, slots: Slots) -> None:
        self._channel = channel
        # Of the case as declared, and of what is laid out now.
        self.context = self._context = context
        # Of the case as declared, later of the hidden size.
        self.slots = slots
        self._found: list[OutputComparison] = []
        self._message = ""
        self._repeat: float | None = None
        self._answer_varies = True
        self._want: Answers = {}
        # Notes of this check for people.
        self.notes: list[str] = []

    def report(self) -> CaseReport:
        found = self._found
        return CaseReport(
            case=self._context.case.name,
            correct=not self._message,
            checked_calls=len(found),
            max_abs_error=max(e.max_abs_error for e in found),
            max_rel_error=max(e.max_rel_error for e in found),
            margin=max(e.margin for e in found),
            message=self._message,
            norm_error=max(e.norm_error for e in found),
            repeat_margin=self._repeat,
            answer_varies=self._answer_varies,
        )

    def begin(self) -> bool:
        """Begin a call of which nothing is read: what compiles when it is called does so now.

        False where the problem refuses the inputs.
        """
        try:
            example = self._context.supply.example()
        except BadReference:
            return False
        fill(self.slots.part(0, 1), SeparateInputs([example]))
        self._context.wait()
        self._channel.begin(Ask.CALL, 0)
        return True

    def once(self) -> bool:
        """Call once on fresh inputs: most wrong kernels are refuted by that."""
        return self._call(self.slots, 0, Trial(self._context.supply.example()))

    def plain(self, trials: int) -> bool:
        """Call on fresh seeds, alternating between two slots: no address identifies an answer.

        Then on the last inputs once more, which measures how far repeats differ, and on some that
        are almost the same as those of the call before.
        """
        slots, k = self.slots, 0
        inputs: Mapping[str, Any] = {}
        draws = Draws(slots.layout, self._context.tolerances)
        for trial in range(trials):
            k = trial % 2 % slots.count
            # The ones before are given back first.
            inputs = {}
            inputs = self._context.supply.example()
            if not self._call(slots, k, Trial(inputs)):
                return False
            draws.see(inputs, self._want)
        self.notes += draws.notes()
        self._answer_varies = draws.answer_varies
        if not self._repeated(slots, k, inputs):
            return False
        words = " (the inputs of the call before with a few elements changed)"
        for made in sets.near_duplicates(inputs, tuple(arg.name for arg in slots.layout.outputs)):
            # Whether a kernel may be given them: the problem and its reference take them.
            if not self._context.reference.allows(made):
                continue
            try:
                self._context.answer(made, None)
            except BadReference:
                continue
            if not self._call(slots, k, Trial(made, words, drawn=inputs)):
                return False
        return True

    def _repeated(self, slots: Slots, k: int, inputs: Mapping[str, Any]) -> bool:
        """Call on the inputs of the call before once more, and keep how far the answers differ."""
        outputs = slots.layout.outputs
        before = {arg.name: slots.one(arg, k).clone() for arg in outputs}
        if not self._call(slots, k, Trial(inputs, " (the inputs of the call before once more)")):
            return False
        after = {arg.name: slots.one(arg, k) for arg in outputs}
        self._repeat = _difference(before, after, self._context.tolerances)
        return True

    def unlike(self, check: CheckSpec, lay: Laying, trials: Iterable[Trial]) -> bool:
        """Call at the least aligned base addresses allowed, and on the adversarial sets.

        trials: the sets, as `SharedSets` makes them of this case.
        """
        case, shifts = self._context.case, _shifts(check)
        words = f" (base addresses are multiples of {check.align} bytes)"
        for shift in shifts:
            laid = lay(case, shift)
            if laid is None:
                continue
            self._context, slots = laid
            if not self._call(slots, 0, Trial(self._context.supply.example(), words)):
                return False
        # At addresses where no two tensors are aligned alike, and at those of a declared call, so
        # that care in one place is not enough.
        places = (*(shift for shift in shifts if not shift.odd), None)
        most = self._context.plan.checked_at_once(self._context.layout, BATCH)
        batches = _batches(trials, most)
        for batch, place in ((batch, place) for batch in batches for place in places):
            laid = lay(case, place)
            if laid is None:
                continue
            self._context, slots = laid
            if not self._call_all(slots, batch):
                return False
        return True

    def _call_all(self, slots: Slots, trials: Iterable[Trial]) -> bool:
        """Make these calls, as many at once as there are slots, up to a batch."""
        most = self._context.plan.checked_at_once(slots.layout, min(slots.count, BATCH))
        return all(self._calls(slots, 0, some) for some in _batches(trials, most))

    def hidden(self, check: CheckSpec, lay: Laying) -> Iterator[None]:
        """Call on sizes other than the declared ones, which no message names.

        Stops at each size once it is laid out; its calls follow when it goes on, so that `begin`
        may come in between. Ends at the first wrong call.
        """
        declared = self._context
        found = sets.hidden_cases(declared.case, check)
        places = [*_shifts(check), *[None] * len(found)][: len(found)]
        shifts = dict(zip(found, declared.supply.shuffled(places), strict=True))
        for direction, cases in found.items():
            words = _hidden_words(declared.case, check, direction)
            may_refuse = direction in (sets.TINY_SIZES, sets.OTHER_NUMBERS)
            required = check.free is not None and not may_refuse
            laid = self._lay_first(cases, shifts[direction], lay, required=required)
            if laid is None:
                continue
            self._context, self.slots = context, slots = laid
            self._channel.detail = words
            yield
            try:
                example = context.supply.example()
                right = self._call(slots, 0, Trial(example, words, tell=False))
                if right and direction == sets.WITH_SETS:
                    # Sizes that leave a remainder are often handled apart.
                    ends = tuple(name for name in check.sets if name in sets.FOR_ENDS)
                    trials = sets_as_trials(context, replace(check, sets=ends), example)
                    untold = (replace(t, words=t.words + words, tell=False) for t in trials)
                    right = self._call_all(slots, untold)
            except BadReference as error:
                # The problem refuses some of its own draws.
                if required:
                    raise
                self._note_refusal(error)
                right = True
            if not right:
                return

    def _lay_first(
        self, cases: Sequence[Case], shift: Shift | None, lay: Laying, *, required: bool
    ) -> tuple[CaseContext, Slots] | None:
        """Lay out the first of these cases that the setup accepts."""
        refused: BadReference | None = None
        for case in cases:
            try:
                return lay(case, shift)
            except BadReference as error:
                refused = refused or error
        if refused is not None and required:
            raise refused
        self._note_refusal(refused)
        return None

    def _note_refusal(self, refused: BadReference | None) -> None:
        note = f"case {self._context.case.name}: no hidden sizes: {refused}"
        self.notes += [note] if note not in self.notes else []

    def _call(self, slots: Slots, k: int, trial: Trial) -> bool:
        """Check one call on slot `k`; sets the message where it is wrong."""
        return self._calls(slots, k, [trial])

    def _calls(self, slots: Slots, first: int, trials: Sequence[Trial]) -> bool:
        """Check calls on neighbouring slots, with the runners stopped before and after them all."""
        context, channel = self._context, self._channel
        channel.freeze()
        posed, noise = [], context.supply.noise
        for number, trial in enumerate(trials, first):
            one, truth = slots.part(number, 1), SeparateInputs([trial.inputs])
            guards, poison = Guards(one, noise), Poison(one, noise)
            posed.append(_PosedCall(number, one, trial, truth, guards, poison))
            fill(one, truth)
        context.wait()
        for n, trial in enumerate(trials):
            channel.detail = trial.words
            channel.ask(Ask.CALL, first + n, context.limit_s)
        channel.freeze()
        for call in posed:
            channel.detail = call.trial.words
            if not self._is_right(call):
                break
        channel.detail = ""
        return not self._message

    def _is_right(self, call: _PosedCall) -> bool:
        """Compare one call that was made; sets the message where it is wrong."""
        context, channel, one, trial = self._context, self._channel, call.slots, call.trial
        want = self._want = trial.want or context.expect(call.truth, 0, torch.float64)
        found = look_at(context, one, 0, trial, want)
        message = ""
        if found is not None and not found.ok:
            never = call.poison.left_in(0, 1)
            let_settle(context, channel)
            settled = look_at(context, one, 0, trial, want)
            if settled is not None and settled.ok:
                raise channel.blame(Outcome.CHEATED, "said done before its work was done")
            message = found.message if trial.tell else _without_place(found)
            if never:
                message += " (the output, or part of it, was never written)"
            if context.device.type == "cuda":
                # Is it right where nothing is near it on the device?
                fill(one, call.truth)
                context.wait()
                channel.ask(Ask.CALL_APART, call.number, context.limit_s)
                channel.freeze()
                again = look_at(context, one, 0, trial, want)
                if again is not None and again.ok:
                    message = UNORDERED
        elif not call.guards.intact():
            message = "wrote outside its output"
        elif changed := changed_input(one, call.truth):
            message = f"the call changed its input {changed!r}"
        if found is not None:
            self._found.append(found)
        self._message = message and message + trial.words
        return not message


def _batches(trials: Iterable[Trial], most: int) -> Iterator[list[Trial]]:
    left = iter(trials)
    while some := list(islice(left, most)):
        yield some


def _shifts(check: CheckSpec) -> tuple[Shift, ...]:
    """The two least aligned ways to lay out tensors; none where only full alignment is allowed."""
    if check.align >= ALIGN:
        return ()
    return Shift(check.align, odd=True), Shift(check.align, odd=False)


def _hidden_words(case: Case, check: CheckSpec, direction: str) -> str:
    """How a hidden case differs, and how to say what has to stay."""
    numbers = direction == sets.OTHER_NUMBERS
    names = (sets.free_numbers if numbers else sets.free_parameters)(case, check)
    way = "; what has to stay is said by `problem new --keep`, or [check] free in problem.toml"
    what = "hidden values" if numbers else "hidden sizes"
    return f" ({what}, {', '.join(names)} {direction} than declared{way})"


def _without_place(found: OutputComparison) -> str:
    wrong = f"output {found.output}: elements are wrong"
    if found.margin == float("inf"):
        return f"{wrong}: not finite, or not exact where the answer is an integer"
    return f"{wrong}, the worst by {found.margin:.2g} × its tolerance"


def _difference(
    before: Mapping[str, torch.Tensor],
    after: Mapping[str, torch.Tensor],
    tolerances: Mapping[str, Tolerance],
) -> float:
    """How far two answers to the same inputs are apart, in tolerances; 0 when bit by bit equal."""
    return max(
        0.0
        if torch.equal(before[name], after[name])
        else compare(after[name], before[name], tolerance).margin
        if tolerance.steps is not None
        else compare(after[name], before[name].double(), replace(tolerance, exact=False)).margin
        for name, tolerance in tolerances.items()
    )
