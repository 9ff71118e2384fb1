"""Two levels of measuring: quick on representative cases, full on all of them (R18).

Only the set of cases differs, never the harness. Within a level no case may be left out, and
nothing is accepted on the quick level: the verdict always depends on all cases.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum


class Level(StrEnum):
    """How much of a campaign's cases an evaluation measures."""

    QUICK = "quick"
    FULL = "full"


def representative(
    classes: Mapping[str, str], declared: Collection[str], skewed: Collection[str]
) -> tuple[str, ...]:
    """The cases of the quick level, in the order in which the campaign has them.

    classes: case → its config class, "" without class columns. For each class: the cases that the
    problem declares, or else its first case, and also a skewed one if there is any (R22). Without
    classes and representatives, all cases.
    """
    chosen = {case for case in classes if case in declared}
    if not chosen and not any(classes.values()):
        return tuple(classes)
    for name in filter(None, dict.fromkeys(classes.values())):
        own = [case for case, of in classes.items() if of == name]
        if not chosen & set(own):
            chosen.add(own[0])
    lopsided = [case for case in classes if case in skewed]
    if lopsided and not chosen & set(lopsided):
        chosen.add(lopsided[0])
    return tuple(case for case in classes if case in chosen)


def level_words(level: Level, measured: int, whole: int) -> str:
    """Such as "quick: 2 representative of 5 cases"; whole: the campaign's cases, 0 if unknown."""
    if not whole:
        return level.value
    if level is Level.FULL:
        return f"full: all {whole} case{'s' if whole > 1 else ''}"
    return f"quick: {measured} representative of {whole} cases"
