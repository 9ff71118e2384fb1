"""What a tracer saw in the runner, in answers of three numbers each.

No text and no size is of the runner's choosing. A launch takes four answers, every kernel whose
name the judge gives takes one, and the outputs that a call copies into take a bit each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from typing import Any

from campaigns.evaluator.contract import CopiedOutput, KernelLaunch, OwnKernel, Traced
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.wire import Ask, Reply

PARTS = range(4)
NOT_TOLD = -1
LARGEST = 2**31 - 1
# As many bits as a positive number in an answer has; outputs after these are not told of.
MOST_COPIED = 63
# Sources that define more are asked about these, in their order; the rest counts as others'.
MOST_KERNELS = 64


def told(
    ask: Callable[[Ask, Any], Reply],
    layout: Layout,
    kernels: tuple[tuple[str, ...], tuple[str, ...]],
    *,
    seen: bool,
) -> dict[str, Any]:
    """What only the runner can tell of the calls that were profiled, as fields of a `Timing`.

    kernels: names that the source defines, and names that the job declares. seen: whether there is
    a trace. Nothing is accepted by it.
    """
    found, declared = kernels
    traced = launch = None
    if seen:
        names = asked_names(found, declared)
        answers = [ask(Ask.KERNEL, name) for name in ("", *names)]
        traced = traced_from(names, answers, set(declared) - set(found))
        first = ask(Ask.LAUNCH, PARTS[0])
        if first.a >= 1:
            launch = launch_from([first, *(ask(Ask.LAUNCH, n) for n in PARTS[1:])])
    return {
        "traced": traced,
        "launch": launch,
        "copied": copied_from(ask(Ask.COPIED, None), layout),
    }


def launch_from(replies: Sequence[Reply]) -> KernelLaunch | None:
    """The judge's side; None for whatever no launch can be: the runner may say anything."""
    rows = [(reply.a, reply.x, reply.y) for reply in replies]
    told = [number for row in rows for number in row]
    if not all(math.isfinite(n) and n == int(n) and abs(n) <= LARGEST for n in told):
        return None
    if len(rows) != len(PARTS):
        return None
    first, grid, block, used = ((int(a), int(x), int(y)) for a, x, y in rows)
    sizes = (first[0], *grid, *block)
    if min(sizes) < 1 or min(used) < 0 or not NOT_TOLD <= first[1] <= 100:
        return None
    return KernelLaunch(
        kernels=first[0],
        grid=grid,
        block=block,
        registers=used[0],
        shared_bytes=used[1],
        occupancy_percent=None if first[1] == NOT_TOLD else first[1],
    )


def asked_names(found: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    """The names to ask about: those that a job declares, then those that a source defines."""
    return tuple(dict.fromkeys((*declared, *found)))[:MOST_KERNELS]


def traced_from(
    names: Sequence[str], replies: Sequence[Reply], declared: Container[str] = ()
) -> Traced | None:
    """Read the answers on everything and then on each name, as `CallPlan.kernel` describes them.

    declared: those of the names that stand in the job alone. None for whatever no trace can be: the
    runner may say anything.
    """
    numbers = (n for reply in replies for n in (reply.a, reply.x, reply.y))
    if len(replies) != len(names) + 1 or not all(
        math.isfinite(n) and 0 <= n <= LARGEST for n in numbers
    ):
        return None
    everything, *told = replies
    calls = everything.a
    if calls < 1:
        return None
    own = tuple(
        OwnKernel(name, reply.a / calls, reply.x, name in declared)
        for name, reply in zip(names, told, strict=True)
    )
    other_us = max(0.0, everything.x - sum(kernel.device_us for kernel in own))
    return Traced(own, other_us, min(everything.y, other_us))


def copied_from(reply: Reply, layout: Layout) -> tuple[CopiedOutput, ...]:
    """The judge's side: bits that are no output's are not looked at."""
    outputs = enumerate(layout.outputs[:MOST_COPIED])
    return tuple(CopiedOutput(o.name, o.nbytes) for n, o in outputs if reply.a >> n & 1)
