"""Is a candidate right? Fresh seeds, repeats, near-duplicates, unlike inputs and hidden sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from campaigns.evaluator.contract import Case, CaseReport, Outcome
from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.arena import Guards, Slots
from campaigns.evaluator.judge.case_context import CaseContext, Forgive, as_it_is
from campaigns.evaluator.judge.channel import RunnerChannel
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.compare import OutputComparison, Tolerance, compare
from campaigns.evaluator.judge.correctness.fresh_inputs import (
    Poison,
    SeparateInputs,
    changed_input,
    fill,
)
from campaigns.evaluator.judge.correctness.trial import Inputs, Trial, forgiving, sets_as_trials
from campaigns.evaluator.judge.integrity.proof import let_settle
from campaigns.evaluator.layout import ALIGN, Shift
from campaigns.evaluator.problem import CheckSpec
from campaigns.evaluator.wire import Ask

# Lays a case out for a runner, base addresses shifted or not; None where its slots do not fit.
# Raises BadReference where the setup refuses it.
Laying = Callable[[Case, Shift | None], tuple[CaseContext, Slots] | None]

# A kernel that ignores such inputs passes; the problem's author should know.
BUILT_IN = "the same in every draw of setup, so that a kernel may have it built in"


class CaseCheck:
    """The check of one arm on one case."""

    def __init__(self, channel: RunnerChannel, context: CaseContext, slots: Slots) -> None:
        self._channel = channel
        self._context = context
        self._slots = slots
        self._found: list[OutputComparison] = []
        self._message = ""
        self._repeat: float | None = None
        # What people should know of this check.
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
        )

    def plain(self, trials: int) -> bool:
        """Call on fresh seeds, alternating between two slots: no address identifies an answer.

        Then on the last inputs once more, which measures how far repeats differ, and on some that
        are almost the same as those of the call before.
        """
        slots, inputs, k = self._slots, self._context.supply.example(), 0
        # Floating inputs are left out: the input sets find kernels that ignore one.
        given = [arg for arg in slots.layout.given if arg.update or "float" not in arg.dtype]
        alike = [arg.name for arg in given]
        for trial in range(trials):
            k, before_it = trial % 2 % slots.count, inputs
            inputs = self._context.supply.example()
            alike = [name for name in alike if torch.equal(before_it[name], inputs[name])]
            if not self._call(slots, k, Trial(inputs)):
                return False
        if alike:
            self.notes.append(f"{BUILT_IN}: {', '.join(alike)}")
        before = self._outputs(slots, k)
        if not self._call(slots, k, Trial(inputs, " (the inputs of the call before once more)")):
            return False
        self._repeat = _difference(before, self._outputs(slots, k), self._context.tolerances)
        words = " (the inputs of the call before with a few elements changed)"
        near = sets.near_duplicates(inputs, tuple(before))
        made = filter(self._is_legal, near)
        return all(self._call(slots, k, Trial(one, words, drawn=inputs)) for one in made)

    def _is_legal(self, made: Inputs) -> bool:
        """Whether a kernel may be given made inputs: the problem and its reference take them."""
        if not self._context.reference.allows(made):
            return False
        try:
            self._context.answer(made, None)
        except BadReference:
            return False
        return True

    def unlike(self, check: CheckSpec, lay: Laying) -> bool:
        """Base addresses as little aligned as allowed, and the adversarial sets."""
        words = f" (base addresses are multiples of {check.align} bytes)"
        right, trials = True, None
        # At these addresses and at those of a declared call, so that care in one place is not
        # enough.
        for shift in (*_shifts(check), None):
            laid = lay(self._context.case, shift)
            if laid is None:
                continue
            self._context, slots = laid
            if trials is None:
                inputs = self._context.supply.example()
                trials = list(sets_as_trials(self._context, check, inputs))
            plain = Trial(self._context.supply.example(), words)
            right = self._call_all(slots, [plain] if shift else trials)
            # The sets as well where addresses are as unlike as they get.
            if right and shift is not None and not shift.odd:
                right = self._call_all(slots, trials)
            if not right:
                break
        self._channel.detail = ""
        return right

    def _call_all(self, slots: Slots, trials: Sequence[Trial]) -> bool:
        for trial in trials:
            self._channel.detail = trial.words
            if not self._call(slots, 0, trial):
                return False
        return True

    def hidden(self, check: CheckSpec, lay: Laying) -> bool:
        """Call on sizes other than the declared ones, which no message names."""
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
            self._context, slots = laid
            self._channel.detail = words
            try:
                example = self._context.supply.example()
                right = self._call(slots, 0, Trial(example, words, tell=False))
                if right and direction == sets.WITH_SETS:
                    right = self._at_ends(slots, check, example, words)
            except BadReference as error:
                # Some of its draws it takes and others not.
                if required:
                    raise
                self._note_refusal(error)
                right = True
            self._channel.detail = ""
            if not right:
                return False
        return True

    def _at_ends(self, slots: Slots, check: CheckSpec, example: Inputs, words: str) -> bool:
        """Some sets, where sizes leave something over: that is often written apart."""
        some = replace(check, sets=tuple(name for name in check.sets if name in sets.FOR_ENDS))
        trials = sets_as_trials(self._context, some, example)
        untold = (replace(one, words=one.words + words, tell=False) for one in trials)
        return all(self._call(slots, 0, one) for one in untold)

    def _lay_first(
        self, cases: Sequence[Case], shift: Shift | None, lay: Laying, *, required: bool
    ) -> tuple[CaseContext, Slots] | None:
        """The first of these that the setup does not refuse."""
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
        """One checked call on slot `k`; sets the message where it is not right."""
        context, channel, one = self._context, self._channel, slots.part(k, 1)
        truth, allowed = SeparateInputs([trial.inputs]), trial.allowed
        channel.freeze()
        guards, poison = Guards(one, context.supply.noise), Poison(one, context.supply.noise)
        fill(one, truth)
        context.wait()
        channel.ask(Ask.CALL, k, context.limit_s)
        channel.freeze()
        want = context.expect(truth, 0, torch.float64)
        forgive: Forgive = as_it_is
        found = context.closer_look(one, want, 0, allowed)
        if not found.ok:
            forgive = forgiving(context, trial)
            found = context.closer_look(one, want, 0, allowed, forgive)
        message = ""
        if not found.ok:
            never = poison.left_in(0, 1)
            let_settle(context, channel)
            if context.closer_look(one, want, 0, allowed, forgive).ok:
                raise channel.blame(Outcome.CHEATED, "said done before its work was done")
            message = found.message if trial.tell else _without_place(found)
            if never:
                message += " (the output, or part of it, was never written)"
        elif not guards.intact():
            message = "wrote outside its output"
        elif changed := changed_input(one, truth):
            message = f"the call changed its input {changed!r}"
        self._found.append(found)
        self._message = message and message + trial.words
        return not message

    def _outputs(self, slots: Slots, k: int) -> dict[str, torch.Tensor]:
        return {arg.name: slots.one(arg, k).clone() for arg in slots.layout.outputs}


def _shifts(check: CheckSpec) -> tuple[Shift, ...]:
    """The two ways in which addresses are as little aligned as allowed; none where nothing is."""
    if check.align >= ALIGN:
        return ()
    return Shift(check.align, odd=True), Shift(check.align, odd=False)


def _hidden_words(case: Case, check: CheckSpec, direction: str) -> str:
    """How a hidden case differs; where `free` is not declared, also how to declare it."""
    numbers = direction == sets.OTHER_NUMBERS
    names = (sets.free_numbers if numbers else sets.free_parameters)(case, check)
    way = "" if check.free is not None else "; [check] free in problem.toml says which may change"
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
        else compare(after[name], before[name].double(), replace(tolerance, exact=False)).margin
        for name, tolerance in tolerances.items()
    )
