"""Writes a point into the source that its space was found in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.evaluator.contract import Source
from campaigns.spaces.flags import with_choice
from campaigns.spaces.space import Knob, Point, Space
from campaigns.syntax.edits import Edit, edited


def render(source: Source, space: Space, point: Point) -> Source:
    """The source at a point: every other byte as it was, and at the defaults the very source.

    Raises ValueError for a point that is not in the space.
    """
    if refused := space.is_legal(point):
        raise ValueError(refused)
    written = edited(source, (e for knob in space.knobs for e in _edits(knob, point)))
    for knob in space.knobs:
        # Only the compiler's flags stand nowhere in the text.
        if not knob.sites and point[knob.name] != knob.default:
            flags = with_choice(source.flags, map(str, knob.values), str(point[knob.name]))
            written = replace(written, flags=flags)
    return written


def _edits(knob: Knob, point: Point) -> Iterator[Edit]:
    value = point[knob.name]
    for site in knob.sites:
        is_due = site.when is None or point[site.when[0]] == site.when[1]
        if is_due and value != site.says:
            yield Edit(site.start, site.end, site.form.replace("{}", repr(value)))
