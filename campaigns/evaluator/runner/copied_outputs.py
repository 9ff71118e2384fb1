"""Into which outputs a call copies answers that it has already: in one number, a bit for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from campaigns.evaluator.contract import CopiedOutput
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.wire import Reply

# As many bits as a positive number in an answer has; outputs after these are not told of.
MOST = 63


def copied_bits(run: Callable[..., None], call: partial[None], layout: Layout) -> int:
    """The runner's side, after calls of this layout. call: of `run`, with its arguments.

    Copies in a call that torch.compile has compiled whole are not seen.
    """
    from campaigns.evaluator.builds.placed_answers import PlacedAnswers

    if not isinstance(run, PlacedAnswers):
        return 0
    names = run.copied(**call.keywords)
    told = enumerate(layout.outputs[:MOST])
    return sum(1 << number for number, output in told if output.name in names)


def copied_from(reply: Reply, layout: Layout) -> tuple[CopiedOutput, ...]:
    """The judge's side: bits that are no output's are not looked at."""
    outputs = enumerate(layout.outputs[:MOST])
    return tuple(CopiedOutput(o.name, o.nbytes) for n, o in outputs if reply.a >> n & 1)
