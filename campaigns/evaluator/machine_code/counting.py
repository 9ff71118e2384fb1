"""A function of a listing while its lines are read: kinds, widths, calls and the lines themselves.

What is read was made from a candidate, which may have written anything into it: all is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from campaigns.evaluator.contract import Function, Resources
from campaigns.evaluator.machine_code.kinds import OpKind

MOST_FUNCTIONS = 64
MOST_CALLED = 16
NAME_CHARACTERS = 120
# Of all functions together, those with most instructions first, and of one line.
LISTED_CHARACTERS, LINE_CHARACTERS = 64 * 1024, 160


class FunctionCounts:
    """line: of the candidate's source, which the next instructions come from; 0 is unknown."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = 0
        self.resources: Resources | None = None
        self._kinds: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._widths: dict[str, Counter[str]] = {}
        self._widest = 0
        self._listing: list[str] = []
        self._characters = 0

    def add(self, kind: OpKind, text: str, called: str = "", nbytes: int = 0) -> None:
        """text: the instruction. nbytes: how much it moves for a thread; 0 where it moves none."""
        self._kinds[kind.value] += 1
        if called:
            self._calls[shown(called)] += 1
        if nbytes:
            self._widths.setdefault(kind.value, Counter())[str(nbytes)] += 1
            if kind in (OpKind.GLOBAL_LOAD, OpKind.ASYNC_COPY):
                self._widest = max(self._widest, nbytes)
        if self._characters < LISTED_CHARACTERS:
            row = f"{self.line}\t{' '.join(text.split())[:LINE_CHARACTERS]}"
            self._listing.append("".join(c for c in row if c.isprintable() or c == "\t"))
            self._characters += len(row) + 1

    def function(self) -> Function:
        return Function(
            shown(self.name),
            self._kinds.total(),
            dict(self._kinds),
            dict(self._calls.most_common(MOST_CALLED)),
            self._widest,
            {kind: dict(counts) for kind, counts in self._widths.items()},
            self.resources,
            "\n".join(self._listing),
        )


def most(found: Iterable[FunctionCounts]) -> tuple[Function, ...]:
    """At most MOST_FUNCTIONS, those with most instructions first, each with what is left to list.

    Functions without instructions are left out.
    """
    functions = [counts.function() for counts in found]
    functions.sort(key=lambda function: -function.instructions)
    kept, left = [], LISTED_CHARACTERS
    for one in functions[:MOST_FUNCTIONS]:
        if one.instructions:
            whole = one.listing[:left]
            listing = whole if whole == one.listing else whole.rpartition("\n")[0]
            left -= len(listing)
            kept.append(replace(one, listing=listing))
    return tuple(kept)


def shown(name: str) -> str:
    return "".join(c for c in name if c.isprintable())[:NAME_CHARACTERS]
