"""The unit that stands directly behind a number in a quote, and whether it is another one."""

from __future__ import annotations

import re

from knowledge.specs.citation import places_of
from knowledge.specs.quantity import ACCEPTED, COUNTED

BESIDE = re.compile(r" ?([A-Za-z]+(?:/[A-Za-z]+)?)")
SPELLINGS = frozenset(spelling for every in ACCEPTED.values() for spelling in every)
# Rates that others write in another way: the small b is a bit, the large one a byte.
RATE = re.compile(r"(?P<prefix>[kKMGTP]i?|[mgtp])?(?P<what>b(?:it)?s?|B)(?:ps|/s(?:ec)?|/second)")
TRANSFERS = re.compile(r"[MG]T/s")


def other_unit(quote: str, shown: str) -> str | None:
    """The unit that the quote gives the number instead of the one claimed; None where it does not.

    "4.8 TB/s" does not prove "4.8 TiB/s", nor does "4.8 Tbps" prove "4.8 TB/s". Only a known unit
    directly behind the number counts, as a table may keep its unit in the head. Counted things
    ("132 SM", "132 core") stand for each other.
    """
    number, _, unit = shown.partition(" ")
    if not unit or unit not in SPELLINGS:
        return None
    others = []
    for place in places_of(number).finditer(quote):
        found = BESIDE.match(quote, place.end())
        word = found[1] if found is not None else ""
        read = _plain(word)
        if read is None or read == unit or {read, unit} <= set(COUNTED):
            return None
        others.append(word)
    return others[0] if others else None


def _plain(word: str) -> str | None:
    """The unit as it is spelt here; None where the word is no unit."""
    if word in SPELLINGS or TRANSFERS.fullmatch(word):
        return word
    rate = RATE.fullmatch(word)
    if rate is None:
        return None
    what = "B" if rate["what"] == "B" else "bit"
    prefix = (rate["prefix"] or "").replace("K", "k")
    if len(prefix) == 1 and prefix != "k":
        prefix = prefix.upper()
    return f"{prefix}{what}/s"
