"""What people and proposers ask, and how long the answers take."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import quantiles
from typing import Any

from campaigns.benchmarks.experience.made_up import FREQUENT, Imagination, Skewed
from campaigns.benchmarks.harness import Row
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Question
from knowledge.search.find import ask, search

SEARCH_LIMIT_MS, RECOMMEND_LIMIT_MS = 150, 50
WARM_UP = 20  # questions that are not timed


@dataclass(frozen=True, slots=True)
class TimedAsk:
    """A question, timed. kind: what is peculiar about it."""

    kind: str
    ms: float


def searches(imagined: Imagination, n: int) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """So many queries: their kind, text and facets."""
    by, words = imagined.by, Skewed(FREQUENT.split(), 0.5)
    contexts = imagined.contexts(n)
    for at, context in enumerate(contexts):
        some = words.draw(by, by.randrange(1, 5))
        scope = {"op": context.op, "backend": context.backend, "platform": context.platform}
        match at % 8:
            case 0 | 1:
                yield "words", " ".join(some), {}
            case 2:
                yield "words and facets", " ".join(some[:2]), scope
            case 3:
                yield "facets alone", "", {"op": context.op, "outcome": "worked"}
            case 4:
                yield "operation, chip, words", f"{context.op} {context.arch} {some[0]}", {}
            case 5:
                yield "a rare word", by.choice(imagined.rare), {}
            case 6:
                yield "a misspelled word", _misspelled(by, some), {}
            case _:
                yield "nonsense", f"{by.getrandbits(60):x} {some[0]}", {}


def questions(imagined: Imagination, n: int) -> Iterator[tuple[str, Question]]:
    """So many questions to recommend: half of them with the facts of a profile."""
    for at, context in enumerate(imagined.contexts(n)):
        known: dict[str, Any] = {}
        if at % 2:
            known = {"bottleneck": context.bottleneck, "size_log2": context.size + 0.5}
        question = Question(
            op=context.op,
            backend=context.backend,
            platform=context.platform,
            dtype=context.dtype,
            **known,
        )
        yield "with a profile" if at % 2 else "without", question


def time_searches(imagined: Imagination, n: int) -> list[TimedAsk]:
    """Parse and search, as a page does."""
    asked = list(searches(imagined, n))
    return _timed((kind, partial(_search, text, facets)) for kind, text, facets in asked)


def time_recommend(imagined: Imagination, n: int) -> list[TimedAsk]:
    asked = list(questions(imagined, n))
    return _timed((kind, partial(recommend, question)) for kind, question in asked)


def rows_of(name: str, asked: Sequence[TimedAsk], limit_ms: int) -> list[Row]:
    """One row for all questions, and one for each kind."""
    kinds = dict.fromkeys(ask.kind for ask in asked)
    return [
        _row(name, [ask.ms for ask in asked], f"p95 under {limit_ms} ms"),
        *(_row(f"{name}: {kind}", [a.ms for a in asked if a.kind == kind], "") for kind in kinds),
    ]


def p95(asked: Sequence[TimedAsk]) -> float:
    return quantiles([ask.ms for ask in asked], n=20)[-1]


def _row(question: str, times_ms: Sequence[float], limit: str) -> Row:
    cuts = quantiles(times_ms, n=20)
    return {
        "question": question,
        "asked": len(times_ms),
        "p50 ms": cuts[9],
        "p95 ms": cuts[-1],
        "max ms": max(times_ms),
        "held to": limit,
    }


def _search(text: str, facets: Mapping[str, str]) -> object:
    return search(ask(text, facets))


def _timed(asks: Iterator[tuple[str, Callable[[], object]]]) -> list[TimedAsk]:
    listed = list(asks)
    for _, question in listed[:WARM_UP]:
        question()
    timed = []
    for kind, question in listed:
        begun = time.perf_counter()
        question()
        timed.append(TimedAsk(kind, (time.perf_counter() - begun) * 1e3))
    return timed


def _misspelled(by: random.Random, words: Sequence[str]) -> str:
    """The first word with two letters changed for each other, and the others."""
    first, *rest = words
    at = by.randrange(max(1, len(first) - 1))
    swapped = first[:at] + first[at : at + 2][::-1] + first[at + 2 :]
    return " ".join((swapped, *rest))
