"""Words that make a number a guess. A value with one of them is refused everywhere.

In a value of ours every hedge counts. In the text of a source, which may hedge other things, only
one right before the number counts, or right after it or its unit.
"""

from __future__ import annotations

import re

from knowledge.specs.citation import places_of
from knowledge.specs.quantity import ACCEPTED

# "up to 4.8 TB/s" is how makers print a peak: no hedge in their text, but one in a value of ours.
OF_LIMITS = ("up to", "at most", "no more than", "not more than", "no less than", "maximum of")
# Before a number and anywhere in a value.
WORDS = (
    *("about", "approx.", "approx", "approximately", "approximate", "around", "roughly"),
    *("similar to", "circa", "ca.", "nearly", "almost", "close to", "some"),
    *("usually", "typically", "typical", "probably", "likely", "maybe", "perhaps", "possibly"),
    *("presumably", "supposedly", "reportedly", "allegedly", "apparently", "unconfirmed"),
    *("estimated", "est.", "expected", "projected", "preliminary", "provisional", "tentative"),
    *("rumoured", "rumored", "speculated", "assumed", "TBD", "TBC", "to be confirmed"),
    *("less than", "fewer than", "more than", "greater than", "higher than", "lower than"),
    *("at least", "upwards of", "north of", "or so", "or more", "or less", "or higher"),
    *("or thereabouts", "or about", "give or take"),
    *("in the order of", "on the order of", "of the order of", "order of magnitude", "ballpark"),
    *("in the region of", "in the ballpark of"),
)
# Before a number these also say where: "900 GB/s over 18 links", "spread over 8 stacks".
PLACES = ("over", "under", "above", "below")
# After a number: what can only be said of it, and what may also begin what follows it.
OF_IT = (
    *("or so", "or more", "or less", "or higher", "or thereabouts", "or about", "give or take"),
    *("est.", "estimated", "approx.", "approx", "approximately", "preliminary", "provisional"),
    *("tentative", "rumoured", "rumored", "unconfirmed", "TBD", "TBC", "to be confirmed"),
    *("estimate", "an estimate", "our estimate", "rough estimate", "a rough estimate", "ballpark"),
    *("a guess", "guess", "guessed"),
)
OR_OF_MORE = (
    *("expected", "projected", "likely", "probably", "maybe", "perhaps", "possibly"),
    *("presumably", "supposedly", "reportedly", "allegedly", "assumed", "typical", "typically"),
    *("at least", "at best"),
)
NEAR = 60  # characters before and after a number in which its hedge stands
# Tilde operator, full-width tilde, small tilde, and two more that mean about.
OTHER_TILDES = ("\u223c", "\uff5e", "\u02dc", "\u2245", "\u223d")
SIGNS = ("~=", "~", "≈", "≃", "≲", "≳", "±", "+/-", "+-", *OTHER_TILDES)
BOUNDS = (">=", "<=", ">", "<", "≥", "≤")


def _either(words: tuple[str, ...]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    spelt = (
        "".join(r"\s+" if sign == " " else re.escape(sign) for sign in w) for w in longest_first
    )
    return rf"(?<!\w)(?:{'|'.join(spelt)})(?!\w)"


SIGN = "|".join(map(re.escape, SIGNS))
BOUND = "|".join(map(re.escape, BOUNDS))
# Letters that mean about right before a number; elsewhere they are a name or end a list.
CIRCA = r"(?<![\w.])(?:ca|c\.)"
HEDGE = re.compile(
    rf"{_either((*WORDS, *PLACES, *OF_LIMITS))}|{SIGN}|{BOUND}|\?|(?<=\d)\+(?=\s|$)"
    rf"|{CIRCA}(?=\s*\d)",
    re.IGNORECASE,
)
LIMIT = re.compile(rf"(?:{_either(OF_LIMITS)})\W*$", re.IGNORECASE)
# Before a number in a source there may be an opening mark: "about **4.8", "(~ `4.8`". A > at the
# start of a line or at the end of a tag is no bound.
MARKS = r"[\s*_`(:]*"
# "an estimated peak of 4.8", "(estimate) 4.8": up to three words between.
GUESS = r"(?<!\w)(?:estimated?|estimates|estimation|ballpark)(?!\w)[)\]:]?(?:\s+[^\W\d]+){0,3}"
BEFORE = re.compile(
    rf"(?:(?:{_either(WORDS)})(?:\s+to\s+(?:be|have|reach)|\s+at)?|{GUESS}|{CIRCA}|{SIGN}"
    rf"|(?<=[ \t|(:])(?:{BOUND})(?!-))[\])]?{MARKS}$",
    re.IGNORECASE,
)
BEFORE_PLACE = re.compile(
    rf"(?:(?P<before>[\w/]+)[*_`]*\s+)?(?P<hedge>{_either(PLACES)}){MARKS}$", re.IGNORECASE
)
SPREAD = (
    *("spread", "distributed", "divided", "shared", "split", "summed", "added", "averaged"),
    *("computed", "calculated", "counted", "measured", "runs", "run", "connected", "striped"),
)
UNITS = {unit for spellings in ACCEPTED.values() for unit in spellings}
NOUNS = ("multiprocessor", "compute unit", "byte", "watt", "lane", "GPU", "cell", "entry")
UNIT = "|".join(map(re.escape, sorted({*UNITS, *NOUNS, "KB", "KB/s", "%"}, key=len, reverse=True)))
PREFIXED = r"(?:kilo|mega|giga|tera|peta)\w+(?:\s+per\s+second)?"
# Its unit may stand between the number and the hedge behind it, and a bracket may open.
AFTER = re.compile(
    rf"(?:[\s*_`]*(?:{PREFIXED}|(?:(?-i:{UNIT}))s?(?!\w)))?[*_`)]*"
    rf"(?P<hedge>-ish(?!\w)|\+(?!\s*[\d(])|\s*(?:{SIGN}|\?)"
    rf"|[\s*_`]*[,;]?\s*[(\[]?{_either(OF_IT)}"
    rf"|[\s*_`]*(?:[(\[]{_either(OR_OF_MORE)}|{_either(OR_OF_MORE)}(?=\s*(?:[.,;|)\]\n]|$))))",
    re.IGNORECASE,
)


# The other end of a range before or behind a number; each end may have its unit.
NUMBER = r"\d[\d,]*(?:\.\d+)?"
DASH = r"(?:[-\u2010-\u2015\u2212]|\.{2,3}|\u2026)"
LOWER_END = re.compile(
    rf"(?P<from>(?:\w+\s+)?from\s+)?(?P<between>between\s+)?[*_`]*"
    rf"(?<![\w.,/\-])(?P<number>{NUMBER})(?:\s*(?P<unit>{UNIT}))?[*_`]*"
    rf"(?:\s*(?P<dash>{DASH})\s*|\s+(?P<word>to|and)\s+)[*_`]*$",
    re.IGNORECASE,
)
UPPER_END = re.compile(
    rf"(?:\s*(?P<unit>{UNIT}))?[*_`]*(?:\s*(?P<dash>{DASH})\s*|\s+(?P<word>to|and)\s+)[*_`]*"
    rf"(?P<number>{NUMBER})(?![\w.,]*\d)(?:\s*(?P<other>{UNIT})(?!\w))?",
    re.IGNORECASE,
)
OPENS = re.compile(r"(?P<from>(?:\w+\s+)?from\s+)?(?P<between>between\s+)?[*_`]*$", re.IGNORECASE)
BEHIND = re.compile(rf"\s*(?P<unit>{UNIT})(?!\w)")
RANGES = re.compile(r"(?:rang|var|span|anywhere|somewhere|estimat)", re.IGNORECASE)
WIDEST = 10  # so many times the lower end is the upper one of a range that is written with a dash


def hedged(text: str) -> str | None:
    """The first hedge in a value, as written there; None for a plain value such as "HBM3e"."""
    found = HEDGE.search(text)
    return found[0] if found else None


def hedged_number(text: str, shown: str) -> str | None:
    """The hedge of a value, where every place that holds it has one; else None.

    For the text of a source, in which "up to" states a limit.
    """
    hedge = None
    for place in places_of(shown).finditer(text):
        found = _before(text[max(0, place.start() - NEAR) : place.start()])
        if not found and (after := AFTER.match(text[place.end() : place.end() + NEAR])):
            found = after["hedge"].strip(" \t\n*_`(),;[")
        hedge = found or _range(text, place)
        if not hedge:
            return None
    return hedge


def _before(text: str) -> str:
    if LIMIT.search(text):
        return ""
    found = BEFORE.search(text)
    if found is not None:
        return found[0].strip(" \t\n*_`():]")
    place = BEFORE_PLACE.search(text)
    if place is None:
        return ""
    # "over" after some words says where, as in "900 GB/s over 18 links".
    word = place["before"] or ""
    says_where = word.lower() in SPREAD or word in UNITS or word.removesuffix("s") in UNITS
    return "" if says_where else place["hedge"]


def _range(text: str, place: re.Match[str]) -> str:
    """The range of which a number is one end; "" where it stands alone."""
    own = re.match(NUMBER, place[0])
    if own is None:
        return ""
    before = text[max(0, place.start() - NEAR) : place.start()]
    behind = text[place.start() + own.end() : place.end() + NEAR]
    lower = LOWER_END.search(before)
    if lower is not None:
        unit = BEHIND.match(behind)
        same = not lower["unit"] or (unit is not None and unit["unit"] == lower["unit"])
        if same and _spans(lower, lower, (lower["number"], own[0])):
            return before[lower.start("number") :] + own[0]
    upper = UPPER_END.match(behind)
    opened = OPENS.search(before)
    if upper is None or opened is None or (upper["unit"] and upper["unit"] != upper["other"]):
        return ""
    is_range = _spans(opened, upper, (own[0], upper["number"]))
    return own[0] + behind[: upper.end("number")] if is_range else ""


def _spans(opened: re.Match[str], joined: re.Match[str], ends: tuple[str, str]) -> bool:
    """Whether two numbers are the ends of a range.

    "grows from 3.35 to 4.8 TB/s" gives two values, and "NVLink 4 - 900 GB/s" none.
    """
    low, high = (float(end.replace(",", "")) for end in ends)
    if not low < high:
        return False
    if joined["dash"]:
        return high <= WIDEST * low
    if joined["word"].lower() == "and":
        return opened["between"] is not None
    return opened["from"] is None or RANGES.match(opened["from"]) is not None
