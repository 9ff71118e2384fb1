"""What engineers type finds what a person judged to be the answer: nDCG@5 of at least 0.85.

A page shows strategies, and beside each other what worked and what did not; below stand single
attempts. Each of the three is read from its top: a column goes on in the attempts of its outcome.
A query counts the mean over those of the three that have a judged answer. Where a word is unknown,
the first near word is followed, as a person would by its link.
"""

from collections.abc import Iterator, Mapping
from statistics import mean

import pytest

from knowledge.models import Experience, Kind
from knowledge.search.find import SearchResults, ask, search
from tests.knowledge.search.corpus import judged, take_in
from tests.knowledge.search.ndcg import ndcg

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

LEAST = 0.85


def test_the_judged_queries_find_their_answers():
    attempts = take_in()
    queries = judged()["queries"]
    assert len(queries) >= 60
    values = {query["text"]: mean(_values(query, attempts)) for query in queries}
    worst = sorted(values.items(), key=lambda each: each[1])[:10]
    print("\n".join(f"{value:.2f} {text}" for text, value in worst))
    assert mean(values.values()) >= LEAST, worst


def test_every_judged_answer_exists():
    attempts = take_in()
    from knowledge.models import Strategy

    slugs = set(Strategy.objects.values_list("slug", flat=True))
    for query in judged()["queries"]:
        assert set(query.get("strategies", {})) <= slugs
        assert set(query.get("attempts", {})) <= set(attempts)


def _values(query: Mapping, attempts: Mapping[str, Experience]) -> Iterator[float]:
    """nDCG of each list of the page that has a judged answer."""
    found = _found(query["text"])
    if grades := query.get("strategies"):
        yield ndcg([hit.key for hit in found.kinds.get(Kind.STRATEGY, ())], grades)
    contexts = {str(row.pk): str(row.track_id) for row in attempts.values()}
    for column, worked in ((found.worked, True), (found.did_not, False)):
        grades = _of_contexts(query.get("attempts", {}), attempts, worked)
        if grades:
            below = found.kinds.get(Kind.ENTRY, ())
            yield ndcg(
                [
                    *(hit.key for hit in column if hit.kind == Kind.TRACK),
                    *(contexts[h.key] for h in below if (h.outcome == "worked") == worked),
                ],
                grades,
            )


def _of_contexts(
    grades: Mapping[str, int], attempts: Mapping[str, Experience], worked: bool
) -> dict[str, int]:
    """Context → the best grade among its attempts, for contexts that stand in this column."""
    best: dict[str, int] = {}
    for name, grade in grades.items():
        track = attempts[name].track
        track.refresh_from_db()
        if (track.worked * 2 >= track.tried) == worked:
            best[str(track.pk)] = max(grade, best.get(str(track.pk), 0))
    return best


def _found(text: str) -> SearchResults:
    found = search(ask(text, {}))
    for near in found.near:
        text = text.replace(near.word, near.instead[0])
    return search(ask(text, {})) if found.near else found
