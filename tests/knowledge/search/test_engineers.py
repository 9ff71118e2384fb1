"""What engineers type finds the page, value or strategy that answers it: nDCG@5 of at least 0.9.

The best answers of a search are held against engineers.toml, over the shipped wiki. What is held
out there does not count. A run with `-s` prints the worst ten and the mean of each part.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from knowledge.models import Document, Kind, Platform, Spec, Strategy
from knowledge.search.find import ask, search
from knowledge.search.hits import SearchHit
from knowledge.specs.facts import Rank
from tests.kept_wiki import put_wiki
from tests.knowledge.search.ndcg import ndcg

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

JUDGED = tomllib.loads((Path(__file__).parent / "engineers.toml").read_text())
QUERIES = {text: grades for part in JUDGED.values() for text, grades in part.items()}
LEAST, MOST_QUERIES = 0.9, 25


@pytest.fixture(autouse=True)
def _wiki(db):
    put_wiki()


def test_engineers_find_what_answers_them():
    values = {text: worth(text, grades) for text, grades in QUERIES.items()}
    parts = {name: mean(values[text] for text in part) for name, part in JUDGED.items()}
    counted = {text: value for text, value in values.items() if text not in JUDGED["held_out"]}
    worst = sorted(counted.items(), key=lambda each: each[1])[:10]
    print(*(f"{value:.2f} {text}" for text, value in worst), parts, sep="\n")
    assert len(counted) == 40
    assert mean(counted.values()) >= LEAST, (parts, worst)


def test_a_search_asks_few_questions():
    for text in QUERIES:
        with CaptureQueriesContext(connection) as asked:
            search(ask(text, {}))
        assert len(asked) <= MOST_QUERIES, text


def test_every_judged_answer_exists():
    wanted = {answer.partition("#")[0] for grades in QUERIES.values() for answer in grades}
    there = {f"platform {slug}" for slug in Platform.objects.values_list("slug", flat=True)}
    there |= set(Strategy.objects.values_list("slug", flat=True))
    there |= set(Document.objects.values_list("path", flat=True))
    for slug, metric in Spec.objects.values_list("platform__slug", "metric"):
        there |= {f"{slug}/{metric}", f"*/{metric}"}
    assert wanted <= there


def worth(text: str, grades: Mapping[str, int]) -> float:
    """nDCG@5 of the best answers to a query."""
    return ndcg([name_of(hit, grades) for hit in search(ask(text, {})).best], grades)


def name_of(hit: SearchHit, grades: Mapping[str, int]) -> str:
    """An answer as the file names it; values with qualifiers or beside the preferred have none."""
    if hit.kind == Kind.SPEC:
        spec = Spec.objects.select_related("platform").get(pk=hit.key)
        if spec.qualifiers or (spec.known and spec.rank != Rank.PREFERRED):
            return ""
        name = f"{spec.platform.slug}/{spec.metric}"
        return name if name in grades else f"*/{spec.metric}"
    if hit.kind == Kind.DOCUMENT:
        path = Document.objects.get(pk=hit.key).path
        return f"{path}#L{hit.line}" if f"{path}#L{hit.line}" in grades else path
    return f"platform {hit.key}" if hit.kind == Kind.PLATFORM else hit.key
