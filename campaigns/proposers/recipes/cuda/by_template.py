"""Puts one of our kernels in the place of a CUDA source that is recognised."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Situation, Variant
from campaigns.proposers.recipes.base import single
from campaigns.proposers.recipes.cuda.spread import Spread, spread_of
from campaigns.proposers.recipes.templates import template


def by_template(situation: Situation, name: str, *spreads: Spread) -> tuple[Variant, ...]:
    """The template `name` for a source that spreads its work in one of these ways; else none."""
    source = situation.source
    if spread_of(source, situation.op) not in spreads:
        return ()
    return single(Source(source.name, template(name), source.flags))
