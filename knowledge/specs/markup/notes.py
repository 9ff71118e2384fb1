r"""Notes that a line refers to: footnotes `[^1]`, and marks such as \*, †, ¹ and <sup>1</sup>."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
SIGNS = "[†‡§]+|[¹²³⁴⁵⁶⁷⁸⁹]+|<sup>[^<>]{1,8}</sup>"
# A star with a blank behind it begins a list, one with another star at the end is emphasis.
NOTE = re.compile(
    rf"[\s>]*(?:[-+]\s+)?(?:\[\^(?P<name>[^\]\s]+)\]:|(?P<mark>(?:\\\*)+|\*+(?=[^\s*][^*]*$)|{SIGNS}))"
    r"[):]?\s*(?P<words>\S.*)"
)
REFERENCE = re.compile(
    rf"\[\^(?P<name>[^\]\s]+)\]|(?P<mark>(?:\\\*)+|(?<=[\w)%])\*+(?![\w*])|{SIGNS})"
)
MOST_LINES = 20  # of one note


class Footnotes:
    """The notes of a document, by what refers to them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._places: dict[str, list[int]] = defaultdict(list)
        self._words: dict[int, str] = {}
        for number, line in enumerate(lines):
            found = NOTE.match(line)
            if found is not None:
                self._places[_key(found)].append(number)
                self._words[number] = found["words"]

    def of(self, texts: Iterable[str], number: int) -> list[str]:
        """The notes that these texts, which stand at or above line `number`, refer to."""
        if not self._places:
            return []
        keys = (_key(found) for text in texts for found in REFERENCE.finditer(text))
        known = [key for key in dict.fromkeys(keys) if key in self._places]
        return [self._read(self._near(self._places[key], number)) for key in known]

    @staticmethod
    def _near(places: list[int], number: int) -> int:
        """The next note below, else the last one above."""
        return places[min(bisect_left(places, number), len(places) - 1)]

    def _read(self, first: int) -> str:
        said = [self._words[first]]
        for number in range(first + 1, min(first + MOST_LINES, len(self._lines))):
            if not self._lines[number] or number in self._words:
                break
            said.append(self._lines[number].strip())
        return " ".join(said)


def _key(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return f"^{found['name']}"
    mark = found["mark"].replace("\\", "")
    return mark.removeprefix("<sup>").removesuffix("</sup>").strip().translate(RAISED)
