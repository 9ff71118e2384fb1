"""Made-up experience is stored as the real one is, so that what is timed on it is real work."""

from argparse import Namespace
from collections import Counter

import pytest
from django.db import IntegrityError
from django.forms import model_to_dict

from campaigns.benchmarks import experience
from campaigns.benchmarks.experience import questions, searches
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.made_up import Imagination, fill
from knowledge.experience.attempts.index import entry_row, track_row
from knowledge.experience.attempts.standing import refresh
from knowledge.experience.recommend.ask import recommend
from knowledge.models import Experience, SearchRow, SearchWord, TrackRecord
from knowledge.search.find import ask, search
from knowledge.search.index import counted_words, search_row

PLATFORMS = [("h200-sxm", "sm_90a", "NVIDIA"), ("mi300x", "gfx942", "AMD")]
STRATEGIES = [("tr.tile", "triton"), ("tr.warps", "triton"), ("cu.fma", "cuda"), ("x.any", "")]


def imagined(seed=1):
    return Imagination(seed, PLATFORMS, STRATEGIES)


@pytest.fixture
def filled(transactional_db):
    fill(imagined().attempts(400))


def test_the_same_seed_gives_the_same_attempts():
    first = list(imagined().attempts(50))
    assert first == list(imagined().attempts(50))
    assert first != list(imagined(2).attempts(50))


def test_few_contexts_have_most_of_the_attempts():
    counts = Counter(imagined().contexts(20_000)).most_common()
    assert sum(n for _, n in counts[: len(counts) // 10]) > 20_000 / 3


@pytest.mark.storage
def test_contexts_have_the_totals_that_their_attempts_give(filled):
    before = [model_to_dict(track) for track in TrackRecord.objects.order_by("pk")]
    refresh(TrackRecord.objects.values_list("pk", flat=True))
    after = [model_to_dict(track) for track in TrackRecord.objects.order_by("pk")]
    assert before == after
    assert sum(track["tried"] for track in before) == Experience.objects.count() == 400


@pytest.mark.storage
def test_the_index_holds_what_writing_one_by_one_would_put_there(filled):
    rows = {(row.kind, row.key): row for row in SearchRow.objects.all()}
    stored = [
        *(entry_row(entry) for entry in Experience.objects.select_related("track")),
        *(track_row(track) for track in TrackRecord.objects.all()),
    ]
    assert len(rows) == len(stored)
    for made in map(search_row, stored):
        row = rows[made.kind, made.key]
        assert (row.title, row.words, row.facets) == (made.title, made.words, made.facets)
    words = dict(SearchWord.objects.values_list("word", "rows"))
    assert words == counted_words(list(rows.values()))


@pytest.mark.storage
def test_indexes_and_triggers_are_back_and_questions_find_something(filled):
    entry = Experience.objects.select_related("track").first()
    context = entry.track
    found = search(ask(entry.title.rpartition(": ")[2], {"op": context.op}))
    assert str(entry.pk) in {hit.key for hit in found.kinds["entry"]}
    some = [recommend(question) for _, question in questions(imagined(), 30)]
    assert any(answer.hits for answer in some)
    with pytest.raises(IntegrityError):
        Experience.objects.filter(pk=entry.pk).update(gain=9.0)


def test_queries_are_of_every_kind():
    kinds = Counter(kind for kind, *_ in searches(imagined(), 80))
    assert len(kinds) == 7
    assert min(kinds.values()) == 10


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("search_ms", "recommend_ms", "held"), [(20, 10, True), (151, 10, False), (20, 51, False)]
)
def test_a_limit_that_is_passed_is_told_and_not_held(search_ms, recommend_ms, held):
    report = experience.report_of(
        400, 1.0, [("words", search_ms)] * 20, [("without", recommend_ms)] * 20
    )
    assert report.held is held
    assert f"less than {search_ms} ms (limit 150)" in report.verdict
    times, tables, memory = report.tables
    assert [row["question"] for row in times.rows] == [
        "search", "search: words", "recommend", "recommend: without",
    ]  # fmt: skip
    assert all(row["rows"] == 0 for row in tables.rows)
    assert memory.rows[0]["MiB"] > 1


def test_too_few_entries_are_refused():
    with pytest.raises(BenchmarkError, match="--entries 5: 100 or more is accepted"):
        experience.measure_experience(Namespace(entries=5, queries=100), print)
