"""Words of the index that somebody may have meant by a word that it does not hold."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.models import SearchWord

MOST_READ = 3_000  # words of the index that are compared
MOST_NEAR = 3
MOST_EDITS = 2
SHORTEST = 3  # letters of a word that is worth a guess
SHORTEST_PREFIX = 4


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word that nothing holds, and words that are nearly it, the most likely first."""

    word: str
    instead: tuple[str, ...]


def near_words(word: str) -> NearWord:
    """What may be meant: two letters away at most, or longer by an ending."""
    if len(word) < SHORTEST or word.isdigit():
        return NearWord(word, ())
    found = (
        SearchWord.objects.filter(word__startswith=word[0], rows__gt=0)
        .exclude(word__contains="=")
        .order_by("-rows")
        .values_list("word", "rows")[:MOST_READ]
    )
    likely = []
    for each, rows in found:
        if (away := _away(word, each)) is not None:
            likely.append((away, -rows, each))
    return NearWord(word, tuple(each for *_, each in sorted(likely)[:MOST_NEAR]))


def _away(word: str, other: str) -> int | None:
    """How far a word is from another; None if it is not meant."""
    most = MOST_EDITS if len(word) > SHORTEST_PREFIX else 1
    # Each edit changes two letters of the set at most.
    if abs(len(word) - len(other)) <= most and len(set(word) ^ set(other)) <= 2 * most:
        edits = edits_between(word, other, most)
        if edits <= most:
            return edits
    starts = len(word) >= SHORTEST_PREFIX and other.startswith(word)
    return MOST_EDITS + 1 if starts else None


def edits_between(first: str, second: str, most: int) -> int:
    """Letters to add, leave out, change or swap with the next; counting ends beyond `most`."""
    before: list[int] = []
    last = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        here = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, here[column - 1] + 1, last[column - 1] + (letter != other))
            swapped = row > 1 and column > 1 and letter == second[column - 2]
            if swapped and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return last[-1]
