"""A job that is no judging has a module of its own, and a judge loads none of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.evaluator.service import evidence
from campaigns.evaluator.service.jobs import BESIDE, work_beside
from tests.evaluator import small
from tools.shape import judge_modules

ASKED = {"stream": "build", "sanitize": True, "read_code": "machine", "counters": ("a",)}
ROOMS = (
    *("screen", "sanitizers", "machine_code", "ceilings", "interpreter", "runner", "sandbox"),
    *("backends", "problem_code", "profile", "service"),
)


@pytest.mark.parametrize("kind", BESIDE)
def test_each_kind_is_done_by_its_module(tmp_path, kind):
    job = small.job(tmp_path, tmp_path, small.source("{}"), **{kind: ASKED[kind]})
    work = work_beside(job)
    assert work is not None
    assert work.__module__ == BESIDE[kind]


def test_a_candidate_is_judged_where_nothing_else_is_asked_for(tmp_path):
    assert work_beside(small.job(tmp_path, tmp_path, small.source("{}"))) is None


def test_the_judge_loads_nothing_that_stands_beside_it():
    loaded = {path.split("/")[2] for path in judge_modules() if path.count("/") > 2}
    assert "judge" in loaded
    assert not loaded & set(ROOMS)


@pytest.mark.parametrize("log", ["", '"text": "cut off at its head"}', '{"tool": 1}', "[]"])
@pytest.mark.parametrize("kind", ["sanitize", "read_code", "counters"])
def test_what_a_candidate_spoilt_is_told_and_ends_no_service(tmp_path, monkeypatch, kind, log):
    monkeypatch.setattr(evidence, "_placed", lambda report, crew, arm: {})
    job = small.job(tmp_path, tmp_path, small.source("{}"), **{kind: ASKED[kind]})
    crew = SimpleNamespace(build_log=lambda name: log)
    report = Report("1", Outcome.PASSED, Phase.DONE, "")
    found = evidence.with_evidence(report, job, crew, ("candidate", 0))
    assert (found.profile, found.machine_code, found.sanitized) == (None, None, ())
    told = "what was told cannot be read: " in found.reason
    assert told or (kind, log) == ("sanitize", "[]")
