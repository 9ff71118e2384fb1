"""The board of shipped problems: what it makes of a campaign's record, and of one that fails."""

from __future__ import annotations

from argparse import Namespace

import pytest

from campaigns.benchmarks import work
from campaigns.benchmarks.harness import BenchmarkError

SHOWN = {
    "campaign": 7,
    "rounds": 5,
    "created_at": "2026-11-30T07:00:00+00:00",
    "finished_at": "2026-11-30T07:03:00+00:00",
    "stop_sentence": "Time is up.",
    "floors_us": {"small": 1.0, "large": 4.0, "not measured": 9.0},
    "result": {
        "cases": [
            {"case": "small", "time_us": {"median": 2.0}, "incumbent_us": {"median": 8.0}},
            {"case": "large", "time_us": {"median": 8.0}, "incumbent_us": {"median": 32.0}},
        ]
    },
    "baselines": [
        {"baseline": "eager", "time_us": 12.0, "kernel_us": 4.0},
        {"baseline": "library", "time_us": 3.8, "kernel_us": 4.0},
        {"baseline": "compile", "time_us": None, "kernel_us": None},
    ],
}


def test_a_row_has_what_the_campaign_measured():
    row = work.row_of("softmax", SHOWN)
    assert (row["v0 µs"], row["ours µs"], row["gain"]) == pytest.approx((16.0, 4.0, 4.0))
    assert (row["eager µs"], row["compile µs"], row["library µs"]) == (12.0, None, 3.8)
    assert row[work.BEST] == pytest.approx(0.95)
    assert row["of the limit"] == pytest.approx(0.5)
    assert (row["rounds"], row["seconds"]) == (5, 180)


def test_what_was_not_measured_is_no_number():
    row = work.row_of("softmax", {"stop_sentence": "it was refused"})
    assert row["note"] == "it was refused"
    measured = ("ours µs", "gain", "of the limit", work.BEST, "seconds")
    assert {row[name] for name in measured} == {None}


def test_a_case_without_a_floor_has_no_share_of_the_limit():
    row = work.row_of("softmax", {**SHOWN, "floors_us": {"small": 1.0}})
    assert row["gain"] == pytest.approx(4.0)
    assert row["of the limit"] is None


def test_a_campaign_that_is_refused_takes_no_other_along(monkeypatch):
    asked = []

    def manage(*words, answers=True):
        asked.append(words[:2])
        if words[:2] == ("campaign", "run") and "sum" in words:
            raise BenchmarkError("campaign run: the device is busy")
        return SHOWN if answers else None

    monkeypatch.setattr(work, "_manager", lambda folder: manage)
    options = Namespace(problem=["sum", "softmax"], backend="cpp", minutes=3)
    report = work.measure_work(options, lambda line: None)
    notes = [row["note"] for row in report.tables[0].rows]
    assert notes == ["campaign run: the device is busy", "Time is up."]
    assert report.verdict.startswith("0 of 1 ")
    assert asked[0] == ("migrate", "--verbosity")


def test_it_names_the_problems_that_there_are():
    with pytest.raises(BenchmarkError, match=r"--problem nothing: accepted in cpp: .*softmax"):
        work.measure_work(Namespace(problem=["nothing"], backend="cpp", minutes=3), print)


def test_it_names_the_backends_that_there_are():
    with pytest.raises(BenchmarkError, match="--backend hip: accepted: cpp, cuda, triton"):
        work.measure_work(Namespace(problem=None, backend="hip", minutes=3), print)
