"""Tables of answers: what calls store, and later calls find by what their inputs hold.

A name that outlives a call is one if elements of it are read at places that depend on the contents
of inputs, functions write to it, and none of the writes makes it new: each stands under a condition
on what is kept, or at a place that depends on inputs or on what is kept. So a workspace, a handle,
a pool of threads and a choice by size are none. Whatever an expression mentions it may depend on,
and one name is one thing everywhere in a source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

Names = frozenset[str]
NONE: Names = frozenset()
TAKES = ("value", "alias")
KEEPS = "keeps answers from call to call"


class Use(NamedTuple):
    """One thing that a source does with a name.

    An "input" is given contents. A "value" or an "alias" takes from `names` what it holds or what
    it is. A "read" or "write" is of an element: `names` say of which one, `under` are the names in
    the conditions above it.
    """

    kind: Literal["input", "value", "alias", "read", "write"]
    name: str
    names: Names = NONE
    under: Names = NONE


def tables(uses: Iterable[Use], kept: Collection[str]) -> list[str]:
    """Those of the kept names that are tables of answers."""
    uses = list(uses)
    data = _spread({use.name for use in uses if use.kind == "input"}, uses)
    aliases = [use for use in uses if use.kind == "alias"]
    found = []
    for name in kept:
        own = _spread({name}, aliases)
        writes = [use for use in uses if use.kind == "write" and use.name in own]
        looked_up = any(u.kind == "read" and u.name in own and u.names & data for u in uses)
        state = own.union(kept)
        if (
            looked_up
            and writes
            and all(w.names & (data | state) or w.under & state for w in writes)
        ):
            found.append(name)
    return found


def _spread(known: set[str], uses: list[Use]) -> set[str]:
    while more := {use.name for use in uses if use.names & known and use.kind in TAKES} - known:
        known |= more
    return known
