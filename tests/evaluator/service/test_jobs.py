"""A job that is no judging has a module of its own, and a judge loads none of them."""

from __future__ import annotations

import pytest

from campaigns.evaluator.service.jobs import BESIDE, work_beside
from tests.evaluator import small
from tools.shape import judge_modules

ASKED = {"stream": "build", "sanitize": True, "read_code": True, "counters": ("a",)}
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
