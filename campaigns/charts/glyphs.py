"""One shape per verdict, so that a chart can be read without its colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.rules.verdict.decision import VerdictWord

RADIUS = 6.5

_DISC = "M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0Z"
_TRIANGLE = "M-7 -6H7L0 6.5Z"
_CROSS = "M-5.5 -5.5L5.5 5.5M5.5 -5.5L-5.5 5.5"
_SQUARE = "M-4.5 -4.5h9v9h-9z"
_EXCLAMATION = "M0 -3.8V1M0 3.2V4"


@dataclass(frozen=True, slots=True)
class Glyph:
    """A shape around the origin. outline is painted by its class, mark lies on top of it."""

    verdict: VerdictWord
    css: str
    words: str
    outline: str
    mark: str = ""


_SHAPES: Mapping[VerdictWord, tuple[str, str, str]] = {
    VerdictWord.ACCEPTED: ("v-accepted", _DISC, ""),
    VerdictWord.NO_CHANGE: ("v-nochange", _DISC, ""),
    VerdictWord.REJECTED: ("v-rejected", _TRIANGLE, ""),
    VerdictWord.INVALID: ("v-invalid", _CROSS, ""),
    VerdictWord.NEEDS_REVIEW: ("v-review", _DISC, _EXCLAMATION),
    VerdictWord.NOT_JUDGED: ("v-unjudged", _SQUARE, ""),
    VerdictWord.RUNNING: ("v-running", _DISC, ""),
}

GLYPHS: Mapping[VerdictWord, Glyph] = {
    verdict: Glyph(verdict, css, verdict.words, outline, mark)
    for verdict, (css, outline, mark) in _SHAPES.items()
}
