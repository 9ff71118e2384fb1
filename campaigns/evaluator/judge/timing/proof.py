"""Slots made ready for a burst, a fence that reads while the clock runs, and the proof of calls.

Is every call of a burst right, when the clock stopped and now, and nothing else changed? Most calls
are, so many are compared at once; a call that this quick comparison does not find right is compared
closely.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.layout import TensorArg
from campaigns.evaluator.judge.correctness.arena import Gather, Guards, Slots, same_bits
from campaigns.evaluator.judge.correctness.case_context import (
    Answers,
    CaseContext,
    is_right,
    let_settle,
)
from campaigns.evaluator.judge.correctness.fresh_inputs import (
    BurstInputs,
    Poison,
    changed_input,
    fill,
    starts_intact,
)
from campaigns.evaluator.judge.correctness.output_comparison import NONE, Others, forgiven, quick
from campaigns.evaluator.judge.correctness.trial import others
from campaigns.evaluator.judge.integrity.channel import RunnerChannel

# Slots behind those of a burst that are made ready like them and must stay as they are.
SPARE = 2


@dataclass(frozen=True, slots=True)
class BurstOptions:
    """How a burst is made.

    cold: whether to empty the caches first, where the slots would fit into them. breadth: how many
    slots the fence covers, if more than the calls. inputs: makes the contents of so many slots;
    None draws fresh ones. rest_s: how long the judge spins before the clock starts.
    """

    cold: bool = True
    breadth: int = 0
    inputs: Callable[[int], BurstInputs] | None = None
    rest_s: float = 0.0


USUAL, WARM = BurstOptions(), BurstOptions(cold=False)


@dataclass(frozen=True, slots=True)
class Lane:
    """A runner with its slots of one case, and what judges its calls."""

    context: CaseContext
    channel: RunnerChannel
    slots: Slots


@dataclass(frozen=True, slots=True)
class PreparedSlots:
    """Refreshed slots: calls are made on the first `calls` of them and not on the rest.

    order: the slots of the calls, in turn; empty where no call is made.
    """

    context: CaseContext
    channel: RunnerChannel
    slots: Slots
    calls: int
    truth: BurstInputs
    poison: Poison
    guards: Guards
    order: tuple[int, ...]

    @property
    def timed(self) -> Slots:
        return self.slots.part(0, self.calls)


def set_up(
    lane: Lane, calls: int, options: BurstOptions = USUAL, order: tuple[int, ...] = ()
) -> PreparedSlots:
    """Make `calls` slots and some spare ones ready while no runner can read them.

    order: see `PreparedSlots`.
    """
    context, channel, slots = lane.context, lane.channel, lane.slots
    channel.freeze()
    part = slots.part(0, min(slots.count, calls + SPARE))
    made, inputs = part.count, options.inputs
    truth = inputs(made) if inputs else context.supply.fresh(made, context.refresh)
    guards = Guards(part, context.supply.noise)
    poison = Poison(part, context.supply.noise)
    fill(part, truth)
    if options.cold:
        context.cool(part.rows, slots.rows.numel())
    return PreparedSlots(context, channel, part, calls, truth, poison, guards, order)


def telling_positions(
    context: CaseContext,
    truth: BurstInputs,
    shapes: Mapping[TensorArg, Sequence[int]],
    calls: int,
) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """[slots, positions] of outputs, drawn at random, that show whether a call was made.

    shapes: [slots, positions] by output. Of what is updated in place by `calls` calls, those
    that have to change: most may stay as they are. And [slots] whether there are any: a call that
    changes nothing shows nothing.
    """
    generator, device = context.supply.generator, context.device
    found = {}
    for arg, shape in shapes.items():
        at = torch.randint(arg.count, shape, device=device, generator=generator)
        found[arg.name] = at, torch.ones(len(at), dtype=torch.bool, device=device)
    updated = [arg.name for arg in shapes if arg.update]
    for first in range(0, calls, context.proven_at_once) if updated else ():
        count = min(context.proven_at_once, calls - first)
        for name, changed in context.changes(truth, updated, first, count):
            rows, (at, tells) = slice(first, first + count), found[name]
            # Of each row, the place of the change with that number.
            number = changed.cumsum(1, dtype=torch.int32)
            total = number[:, -1:]
            tells[rows] = (total > 0).flatten()
            which = at[rows] % total.clamp(min=1) + 1
            place = torch.searchsorted(number, which.int())
            at[rows] = torch.where(total > 0, place, at[rows])
    return found


class OutputFence:
    """Reads positions of every output; they are compared with the reference afterwards.

    So an output that was not right when the clock stopped is noticed, whatever it held: poison,
    junk, or half of the work. Fences of as many slots share their memory, so only the latest may be
    used.

    slots: all that are read, of which the first `calls` are worked on. Reading takes longer the
    more memory it covers, so bursts whose times are compared read equally many slots.
    """

    def __init__(self, context: CaseContext, slots: Slots, truth: BurstInputs, calls: int) -> None:
        memory = (slots.rows.data_ptr(), slots.count)
        if memory not in context.gathers:
            context.gathers[memory] = Gather(slots, context.device)
        self._gather = context.gathers[memory]
        places = self._gather.at
        shapes = {arg: places[arg.name].shape for arg in slots.layout.outputs}
        for name, (at, _) in telling_positions(context, truth, shapes, calls).items():
            places[name].copy_(at)

    def look(self) -> None:
        """Copy the positions out of every output."""
        self._gather.read()

    def saw_all(self, context: CaseContext, want: Answers, first: int) -> torch.Tensor:
        """[slots] Which slots from `first` on were right, by a quick comparison.

        want: [slots, elements] of each output.
        """
        count = len(next(iter(want.values())))
        right = torch.ones(count, dtype=torch.bool, device=context.device)
        part = slice(first, first + count)
        for name, seen in self._gather.seen.items():
            wanted = want[name].gather(1, self._gather.at[name][part])
            right &= quick(seen[part], wanted, context.tolerances[name].by_element)
        return right

    def saw(self, context: CaseContext, want: Answers, k: int, near: Others = NONE) -> bool:
        """Whether slot `k` was right at the read positions."""
        for name, seen in self._gather.seen.items():
            at = self._gather.at[name][k]
            wanted = want[name].reshape(-1)[at]
            also = near[name].flatten(1)[:, at] if name in near else None
            found = forgiven(seen[k], wanted, also)
            if not is_right(found, wanted, context.tolerances[name].by_element):
                return False
        return True


def prove(prepared: PreparedSlots, fence: OutputFence, but: Container[int] = ()) -> None:
    """Every call's answer, when the clock stopped and now; nothing else may have changed.

    but: slots whose answers the caller compares. Raises what `RunnerChannel.blame` makes of it.
    """
    context, channel, slots = prepared.context, prepared.channel, prepared.slots
    timed, truth, changed = prepared.timed, prepared.truth, ""
    step = context.proven_at_once
    for first in range(0, prepared.calls, step):
        rows = context.given_all(truth, first, min(step, prepared.calls - first))
        for arg in slots.layout.inputs:
            wanted = rows[arg.name]
            if not same_bits(timed.all(arg)[first : first + len(wanted)], wanted):
                changed = changed or arg.name
        want = context.answer_all(rows)
        right = context.all_right(timed, want, first) & fence.saw_all(context, want, first)
        for k in (first + int(place) for place in torch.nonzero(~right)):
            if k not in but:
                _prove_call(prepared, fence, k)
    if not prepared.guards.intact():
        raise channel.blame(Outcome.WRONG_RESULT, "a call wrote outside its output")
    if changed := changed or changed_input(slots, truth, prepared.calls):
        raise channel.blame(Outcome.CHEATED, f"a call changed its input {changed!r}")
    untouched = prepared.poison.untouched(prepared.calls)
    if not (untouched and starts_intact(slots, truth, prepared.calls)):
        raise channel.blame(Outcome.CHEATED, "it wrote the output of a call that was not made")


def _prove_call(prepared: PreparedSlots, fence: OutputFence, k: int) -> None:
    """Compare one call with every accepted answer, and say whether its work is late or missing.

    In the reference's own precision first. That can be so far off that a better kernel is not
    within tolerance of it: then the answer in float64 counts. Each has alternatives that are right
    as well.
    """
    context, channel, slots = prepared.context, prepared.channel, prepared.slots
    own = context.expect(prepared.truth, k, None)
    exact = context.expect(prepared.truth, k, torch.float64)
    near = others(context, context.given(prepared.truth, k))
    alternatives = (NONE, near) if near else (NONE,)
    answers = [(want, also) for also in alternatives for want in (own, exact)]
    for want, also in answers:
        if context.right(slots, want, k, also) and fence.saw(context, want, k, also):
            return
    number = prepared.order.index(k) + 1
    let_settle(context, channel)
    if any(context.right(slots, want, k, also) for want, also in answers):
        raise channel.blame(
            Outcome.CHEATED,
            f"said done before its work was done: the output of call {number} of {prepared.calls} "
            "was not right when the clock stopped, and became right later",
        )
    worst = context.closer_look(slots, context.expect(prepared.truth, k, torch.float64), k)
    raise channel.blame(
        Outcome.WRONG_RESULT, f"timed call {number} of {prepared.calls} is wrong: {worst.message}"
    )
