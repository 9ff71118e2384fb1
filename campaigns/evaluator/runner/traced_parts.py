"""What a tracer saw, in one answer of three numbers for each kernel whose name the judge gives."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from campaigns.evaluator.contract import OwnKernel, Traced
from campaigns.evaluator.wire import Reply

# Sources that define more are asked about these, in their order; the rest counts as others'.
MOST_KERNELS = 64
LARGEST = 2**31 - 1


def asked_names(found: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    """The names to ask about: those that a job declares, then those that a source defines."""
    return tuple(dict.fromkeys((*declared, *found)))[:MOST_KERNELS]


def traced_from(
    names: Sequence[str], replies: Sequence[Reply], declared: Container[str] = ()
) -> Traced | None:
    """Read the answers on everything and then on each name, as `Plan.kernel` describes them.

    declared: those of the names that stand in the job alone. None for whatever no trace can be: the
    runner may say anything.
    """
    if len(replies) != len(names) + 1 or not all(map(_is_possible, replies)):
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


def _is_possible(reply: Reply) -> bool:
    return all(math.isfinite(n) and 0 <= n <= LARGEST for n in (reply.a, reply.x, reply.y))
