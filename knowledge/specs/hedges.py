"""Words that make a number a guess. A value with one of them is refused everywhere."""

from __future__ import annotations

import re

from knowledge.specs.citation import places_of

# "up to 4.8 TB/s" is how makers print a peak: no hedge in their text, but one in a value of ours.
OF_LIMITS = ("up to",)
WORDS = (
    *("about", "approx.", "approx", "approximately", "around", "roughly", "similar to"),
    *("circa", "ca.", "nearly", "almost", "usually", "typically", "probably", "estimated", "est."),
)
NEAR = 40  # characters before a number in which its hedge stands
SIGNS = ("~", "≈", "≃", "±", "+/-", "+-")


def _either(words: tuple[str, ...]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    spelt = (
        "".join(r"\s+" if sign == " " else re.escape(sign) for sign in w) for w in longest_first
    )
    return rf"(?<!\w)(?:{'|'.join(spelt)})(?!\w)"


SIGN = "|".join(map(re.escape, SIGNS))
HEDGE = re.compile(rf"{_either((*WORDS, *OF_LIMITS))}|{SIGN}", re.IGNORECASE)
# Before a number in a source there may be an opening mark: "about **4.8", "(~ `4.8`".
BEFORE_NUMBER = re.compile(rf"(?:{_either(WORDS)}|{SIGN})[\s*_`(]*$", re.IGNORECASE)


def hedged(text: str) -> str | None:
    """The first hedge in a value, as written there; None for a plain value such as "HBM3e"."""
    found = HEDGE.search(text)
    return found[0] if found else None


def hedged_number(text: str, shown: str) -> str | None:
    """The hedge before a value, where every place that holds it has one; else None.

    For the text of a source, which may hedge other things, and in which "up to" states a limit.
    """
    hedge = None
    for place in places_of(shown).finditer(text):
        found = BEFORE_NUMBER.search(text, max(0, place.start() - NEAR), place.start())
        if found is None:
            return None
        hedge = found[0].strip(" \t\n*_`(")
    return hedge
