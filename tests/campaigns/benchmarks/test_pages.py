"""Benchmark of pages: what is made up, and what is said of it."""

from argparse import Namespace
from collections import Counter
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.db import connection

from campaigns.benchmarks.drawn import DrawnPage
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.made_up_campaigns import fill_campaigns
from campaigns.benchmarks.pages import COUNT, MAIN, Counted, _headers, measure_pages, report_of
from campaigns.models import Campaign
from knowledge.exchange.importer import import_wiki

OPTIONS = Namespace(campaigns=200, rounds=500, cases=20)


def found(queries=9, ms=100.0, drawn=True):
    drawn = {name: DrawnPage(300, 900, 700.0, 20.0) for name in MAIN} if drawn else {}
    counted = {name: Counted(queries, 4000, 50.0) for name in MAIN}
    return report_of(OPTIONS, counted, {name: [ms] * 20 for name in MAIN}, drawn)


def test_the_report_holds_each_page_to_its_limits():
    report = found()
    assert report.held
    assert "at most 9 queries" in report.verdict
    assert [row["page"] for row in report.tables[0].rows] == list(MAIN)
    assert not found(queries=26).held
    assert not found(ms=301.0).held


def test_without_a_browser_nothing_is_said_of_words():
    report = found(drawn=False)
    assert "words" not in report.tables[0].rows[0]
    assert report.tables[1].rows == []


def test_only_the_count_is_asked_for_as_the_page_asks():
    assert _headers("/", '"1"') == {}
    assert _headers(COUNT, '"1"') == {"HX-Request": "true", "If-None-Match": '"1"'}


def test_too_few_rounds_are_refused():
    with pytest.raises(BenchmarkError, match="--rounds 2: 6 to 1500"):
        measure_pages(Namespace(campaigns=10, rounds=2, cases=1), print)


@pytest.mark.storage
def test_copies_are_whole_and_their_keys_their_own(db, tmp_path):
    """As many as asked for, each with its own rounds; the long one goes on where it was played."""
    import_wiki()
    person = User.objects.create_superuser("bench")
    works = {f"{n}x1024": (5.0 * n * 1024, 8.0 * n * 1024) for n in (256, 512)}
    with patch("campaigns.steps.lifecycle.set_target.work_model", lambda *_: works):
        long = fill_campaigns(tmp_path, 6, 12, 2, person)
    assert Counter(Campaign.objects.values_list("state", flat=True)) == {"done": 3, "repair": 3}
    assert [*long.rounds.values_list("number", flat=True)] == [*range(1, 13)]
    assert long.incumbent.round.number == 10
    for copied in Campaign.objects.filter(state="done").exclude(pk=long.pk):
        assert copied.incumbent.round.campaign_id == copied.pk
        assert copied.rounds.count() == copied.rounds.filter(verdict__isnull=False).count() == 6
    connection.check_constraints()
