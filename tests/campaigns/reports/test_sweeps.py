"""What is said of a sweep."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.models import Evaluation, Round, Sweep
from campaigns.records.sweeps import ScreenedPoint, SweepRecord, SweptKnob
from campaigns.reports.sweeps import (
    coverage_of,
    failure_groups,
    lead_of,
    outcome_counts,
    pace_of,
    size_words,
)

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
KNOBS = (SweptKnob("A", (1, 2, 4), 1), SweptKnob("flags", ("", "-O3"), ""))


def point(number, a=1, flags="", time_us=None, outcome="passed", *, early=False):
    params = {"A": a, "flags": flags}
    return ScreenedPoint(number, params, outcome, time_us, early, {}, 0.1, 0.1, 7, None)


def record(*points, state="done", took_s=52, size=6):
    run = Evaluation(pk=7, state=state, started_at=START)
    if state == "done":
        run.finished_at = START + timedelta(seconds=took_s)
    plan = Sweep(most_points=100, most_s=60.0)
    return SweepRecord(Round(), plan, KNOBS, size, points, run)


def test_it_says_the_best_against_the_source():
    found = record(point(1, time_us=50.0), point(2, 2, time_us=40.0), point(3, 4, time_us=90.0))
    assert lead_of(found) == (
        "3 variants screened in 50 s: the best takes 40.0 µs, "
        "1.25× faster than the source as it is."
    )


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "Nothing has been screened yet: the search is done."),
        ([point(1, time_us=50.0), point(2, 2, time_us=60.0)], "none is faster than the source"),
        ([point(1, outcome="crashed"), point(2, 2, time_us=60.0)], "has no time to compare with"),
        ([point(1, outcome="crashed")], "1 variant screened in 50 s: none has a time."),
        ([point(1, time_us=50.0), point(2, time_us=9.0, early=True)], "none is faster"),
    ],
)
def test_it_claims_no_gain_that_is_none(points, words):
    assert words in lead_of(record(*points))


def test_it_says_so_far_while_it_runs():
    assert "1 variant screened so far" in lead_of(record(point(1, time_us=5.0), state="running"))


def test_it_tells_rate_and_time_left_by_both_limits():
    points = [point(n, time_us=50.0) for n in range(1, 21)]
    found = record(*points, state="running")
    pace = pace_of(found, START + timedelta(seconds=10))
    assert (pace.done, pace.most, pace.rate_words) == (20, 100, "120")
    assert pace.left_words == "about 40 s"
    late = pace_of(found, START + timedelta(seconds=50))
    assert late.left_words == "at most 10 s"
    over = pace_of(found, START + timedelta(seconds=70))
    assert over.left_words == "it ends now"
    early = pace_of(record(*points[:9], state="running"), START + timedelta(seconds=10))
    assert (early.rate_words, early.left_words) == ("–", "too early to say; at most 50 s")
    assert pace_of(record(*points), START) is None


def test_it_counts_no_point_of_an_earlier_attempt_into_the_rate():
    points = [point(n, time_us=50.0) for n in range(1, 21)]
    old = [replace(p, evaluation_id=6) for p in points[:10]]
    pace = pace_of(record(*old, *points[10:], state="running"), START + timedelta(seconds=10))
    assert (pace.done, pace.rate_words) == (20, "60")


def test_it_names_values_that_were_never_tried():
    found = record(point(1, 1, "", 50.0), point(2, 2, "", 40.0))
    told = coverage_of(found)
    assert told == "2 of 6 points, 33 %. Never tried: A 4, flags -O3."
    more = record(*(point(n, a, f, 9.0) for n, (a, f) in enumerate([(1, ""), (2, ""), (4, "-O3")])))
    assert coverage_of(more).endswith("the rarest, A 1, 1 time.")


@pytest.mark.parametrize(
    ("size", "words"),
    [(22_500, "22,500"), (10**12, "1.00 × 10^12"), (123 * 10**57, "1.23 × 10^59")],
)
def test_it_writes_a_size_that_nobody_can_count(size, words):
    assert size_words(size) == words
    assert coverage_of(record(point(1), size=size)).startswith(f"1 of {words} points, less than")


def test_it_groups_failures_that_differ_in_numbers():
    failed = [
        ("build_failed", "96 registers\nmore"),
        ("crashed", "x"),
        ("build_failed", "8 registers"),
    ]
    points = [point(n, outcome=outcome) for n, (outcome, _) in enumerate(failed, 1)]
    reasons = {n: reason for n, (_, reason) in enumerate(failed, 1)}
    groups = failure_groups(record(*points, point(4, time_us=1.0)), reasons)
    assert [(g.outcome, g.count, g.number, g.message) for g in groups] == [
        ("build_failed", 2, 1, "96 registers\nmore"),
        ("crashed", 1, 2, "x"),
    ]
    assert (groups[0].has_more, groups[0].first_line) == (True, "96 registers")


def test_it_counts_outcomes_passed_ones_first():
    points = [point(1, outcome="crashed"), point(2, outcome="crashed"), point(3, time_us=1.0)]
    assert outcome_counts(record(*points)) == [("passed", 1), ("crashed", 2)]
