"""Jobs and reports survive the trip through a file, and nonsense is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from campaigns.evaluator.contract import (
    CaseReport,
    ContractError,
    Moment,
    Outcome,
    Phase,
    Report,
    Source,
    Timer,
    Timing,
    files,
)
from tests.evaluator import small

TIMED = CaseReport("c", True, 5, candidate=Timing((1.0, 2.0), 8, 1, Timer.CALLS))


def test_it_reads_back_the_job_it_wrote():
    job = small.job(Path("/p"), Path("/s"), Source("a.cpp", "text", ("-O3",)))
    assert files.load_job(files.dump(job)) == job


def test_it_reads_back_the_report_it_wrote():
    report = Report("1", Outcome.PASSED, Phase.DONE, "fine", (TIMED,), notes=("a",))
    assert files.load_report(files.dump(report)) == report


def test_it_forbids_timings_of_a_candidate_that_did_not_pass():
    with pytest.raises(ContractError, match="outcome"):
        Report("1", Outcome.WRONG_RESULT, Phase.CHECK, "no", (TIMED,))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 99}, "schema: found 99"),
        ({"outcome": "great"}, "outcome: 'great' is not a Outcome"),
        ({"extra": 1}, "extra: unknown field"),
        ({"reason": 3}, "reason: expected str"),
        ({"cases": {}}, "cases: expected a list"),
    ],
)
def test_it_names_the_field_of_a_bad_report(change, words):
    text = files.dump(Report("1", Outcome.PASSED, Phase.DONE, "fine"))
    with pytest.raises(ContractError, match=words):
        files.load_report(json.dumps({**json.loads(text), **change}))


def test_it_names_the_line_of_what_is_no_json():
    with pytest.raises(ContractError, match="line 2"):
        files.load_report('{\n"a" 1}')


def test_it_reads_back_what_was_seen_around_a_measurement():
    seen = (Moment("c", 0), Moment("c", 5, 1980.0, 41.0, 310.5, ("power cap",), 1.0, 2.5, 0.3, 0.0))
    report = Report("1", Outcome.PASSED, Phase.DONE, "fine", (TIMED,), surroundings=seen)
    assert files.load_report(files.dump(report)) == report


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"case": "d"}, "case 'd' is not in the report"),
        ({"block": -1}, "surroundings.block: -1"),
        ({"clock_mhz": float("nan")}, "NaN: accepted: finite numbers"),
        ({"clock_mhz": -1.0}, r"surroundings.clock_mhz: -1.0; accepted: a finite number from 0"),
        ({"pressure": 1.5}, "surroundings.pressure: 1.5; accepted: a finite number from 0 to 1"),
        ({"stolen": "much"}, r"surroundings\[0\].stolen: expected float"),
        ({"throttled": "heat"}, "throttled: expected a list"),
    ],
)
def test_it_refuses_surroundings_that_cannot_be(change, words):
    report = Report("1", Outcome.PASSED, Phase.DONE, "", (TIMED,), surroundings=(Moment("c", 0),))
    facts = json.loads(files.dump(report))
    facts["surroundings"][0].update(change)
    with pytest.raises(ContractError, match=words):
        files.load_report(json.dumps(facts))


def test_a_report_holds_each_case_once():
    """The second of two of one name would hide what the first one lost."""
    twice = (CaseReport("n", correct=True, checked_calls=1),) * 2
    with pytest.raises(ContractError, match="cases: 'n' is in the report twice"):
        Report("j", Outcome.PASSED, Phase.DONE, "", twice)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_it_reads_no_number_that_is_none(number):
    text = files.dump(Report("1", Outcome.PASSED, Phase.DONE, "", (TIMED,)))
    assert "2.0" in text
    with pytest.raises(ContractError, match=f"{number}: accepted: finite numbers"):
        files.load_report(text.replace("2.0", number, 1))
