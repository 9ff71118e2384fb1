"""Benchmark of pages: what is made up, and what is said of it."""

from argparse import Namespace

import pytest

from campaigns.benchmarks.drawn import Drawn
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.pages import COUNT, MAIN, Counted, _headers, measure_pages, report_of

OPTIONS = Namespace(campaigns=200, rounds=500, cases=20)


def found(queries=9, ms=100.0, drawn=True):
    drawn = {name: Drawn(300, 900, 700.0, 20.0) for name in MAIN} if drawn else {}
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
