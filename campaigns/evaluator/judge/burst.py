"""One burst: n calls on n fresh slots between two looks at the judge's clock, each one proven.

Refresh every input, poison every output, wait for the device, start the clock, say go, wait for
done, and at once run the fence: a look at positions of all outputs that nobody but the judge knows.
The clock stops when the fence has read them, so work that was left running either delays it or is
seen by it. Then, off the clock: every output against the reference, inputs and guards untouched.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.compare import Comparison, Tolerance, compare, quick
from campaigns.evaluator.judge.fresh import Supply, Truth, fill, inputs_intact, scalars
from campaigns.evaluator.judge.reference import Reference
from campaigns.evaluator.layout import TensorArg

FENCE_POSITIONS = 64
# How long a burst that looked unfinished is left alone before it is judged late or empty.
SETTLE_S = 0.2


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything about one case that its bursts share."""

    reference: Reference
    supply: Supply
    tolerance: Tolerance
    refresh: str
    device: torch.device
    scrub: torch.Tensor | None
    limit_s: float

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


class Fence:
    """Reads every output at positions that nobody but the judge knows, while the clock runs.

    What was read is kept and compared with the reference afterwards, so an output that was not
    right when the clock stopped is seen whatever it held: poison, junk, or half of the work.
    """

    def __init__(self, bench: Bench, slots: Slots) -> None:
        self._parts: list[tuple[TensorArg, torch.Tensor, torch.Tensor]] = []
        self._seen: list[torch.Tensor] = []
        for arg in slots.layout.outputs:
            view = slots.all(arg)
            view.fill_(bench.supply.poison(arg))
            shape = (slots.count, min(FENCE_POSITIONS, arg.count))
            at = torch.randint(
                arg.count, shape, device=bench.device, generator=bench.supply.generator
            )
            self._parts.append((arg, view, at))

    def look(self) -> None:
        """Copy the positions out of every output."""
        self._seen = [view.gather(1, at) for _, view, at in self._parts]

    def saw(self, k: int, want: dict[str, torch.Tensor], tolerance: Tolerance) -> bool:
        """Whether slot `k` was right, at the positions, when `look` was called."""
        return all(
            _right(seen[k], want[arg.name].reshape(-1)[at[k]], tolerance)
            for seen, (arg, _, at) in zip(self._seen, self._parts, strict=True)
        )


def run_burst(bench: Bench, channel: Channel, slots: Slots) -> float:
    """Seconds on the judge's clock for `slots.count` proven calls of the runner behind `channel`.

    Raises what `Channel.blame` makes of a call that is late, wrong or touched what is not its own.
    """
    truth = bench.supply.fresh(slots.count, bench.refresh)
    fill(slots, truth)
    fence = Fence(bench, slots)
    if bench.scrub is not None:
        bench.scrub.add_(1)
    channel.start_burst(slots.count, bench.limit_s)
    bench.wait()
    started = time.perf_counter()
    channel.burst(slots.count, bench.limit_s)
    fence.look()
    bench.wait()
    seconds = time.perf_counter() - started
    _prove(bench, channel, slots, truth, fence)
    return seconds


def _prove(bench: Bench, channel: Channel, slots: Slots, truth: Truth, fence: Fence) -> None:
    for k in range(slots.count):
        want = expect(bench, slots, truth, k, None)
        if not (_slot_ok(bench, slots, want, k) and fence.saw(k, want, bench.tolerance)):
            _blame_call(bench, channel, slots, truth, k)
    changed = inputs_intact(slots, truth)
    if changed:
        raise channel.blame(Outcome.CHEATED, f"a call changed its input {changed!r}")
    if not slots.gaps_intact():
        raise channel.blame(Outcome.WRONG_RESULT, "a call wrote outside its output")


def _blame_call(bench: Bench, channel: Channel, slots: Slots, truth: Truth, k: int) -> None:
    """Call `k` was not right when the clock stopped: is its work late, or was it never done?"""
    bench.wait()
    time.sleep(SETTLE_S)
    bench.wait()
    if _slot_ok(bench, slots, expect(bench, slots, truth, k, None), k):
        raise channel.blame(
            Outcome.CHEATED,
            f"said done before its work was done: the output of call {k + 1} of {slots.count} was "
            "not right when the clock stopped, and became right later",
        )
    worst = compare_slot(bench, slots, truth, k)
    raise channel.blame(
        Outcome.WRONG_RESULT,
        f"timed call {k + 1} of {slots.count} is wrong: {worst.message}",
    )


def _slot_ok(bench: Bench, slots: Slots, want: dict[str, torch.Tensor], k: int) -> bool:
    return all(
        _right(slots.one(arg, k), want[arg.name], bench.tolerance) for arg in slots.layout.outputs
    )


def _right(found: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> bool:
    return quick(found, want, tolerance) or compare(found, want, tolerance).ok


def compare_slot(bench: Bench, slots: Slots, truth: Truth, k: int) -> Comparison:
    """The worst comparison over the outputs of slot `k`, against a float64 reference."""
    want = expect(bench, slots, truth, k, torch.float64)
    found = [
        compare(slots.one(arg, k), want[arg.name], bench.tolerance) for arg in slots.layout.outputs
    ]
    return max(found, key=lambda comparison: comparison.margin)


def expect(
    bench: Bench, slots: Slots, truth: Truth, k: int, precision: torch.dtype | None
) -> dict[str, torch.Tensor]:
    """What slot `k` should hold, computed from the judge's own inputs.

    precision: the dtype floating tensors are raised to first; None keeps their own.
    """

    def raised(tensor: torch.Tensor) -> torch.Tensor:
        wants = precision is not None and tensor.is_floating_point()
        return tensor.to(precision) if wants else tensor

    layout = slots.layout
    kwargs: dict[str, Any] = dict(scalars(layout))
    for arg in layout.inputs:
        kwargs[arg.name] = raised(truth.rows(arg)[k].view(arg.shape))
    outputs = {arg.name: raised(_empty(arg, bench.device)) for arg in layout.outputs}
    ordered = {arg.name: {**kwargs, **outputs}[arg.name] for arg in layout.args}
    bench.reference.expected(ordered, tuple(outputs))
    return outputs


def _empty(arg: TensorArg, device: torch.device) -> torch.Tensor:
    return torch.empty(arg.shape, dtype=getattr(torch, arg.dtype), device=device)
