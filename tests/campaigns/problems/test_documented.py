"""docs/problems.md names every key and value of problem.toml, and its example is a problem."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract import problem_words as problems
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.problem_words import DISTRIBUTIONS
from tests.evaluator import small

TEXT = (Path(__file__).parents[3] / "docs" / "problems.md").read_text()
KEYS = {*problems.REQUIRED, *problems.OPTIONAL, *problems.TOLERANCES, *problems.CHECKS}
VALUES = {*problems.SETS, *problems.CASE_KINDS, *problems.REFRESHES, *problems.DIRECTIONS}
TABLES = {"files", "flags", "tolerance", "check", "case"}


@pytest.mark.parametrize("name", sorted(KEYS | set(problems.OF_A_CASE) - TABLES))
def test_it_names_every_key(name):
    written = {"case": "[[case]]"}.get(name, f"[{name}]" if name in TABLES else name)
    assert f"`{written}`" in TEXT


@pytest.mark.parametrize("value", sorted(VALUES | set(DISTRIBUTIONS)))
def test_it_names_every_value(value):
    assert f"`{value}`" in TEXT


@pytest.mark.judged
def test_its_example_is_a_problem_that_a_kernel_passes(tmp_path):
    folder = tmp_path / "leaky"
    folder.mkdir()
    for kind, name in (("toml", "problem.toml"), ("python", "ref.py")):
        found = re.search(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)
        assert found is not None
        (folder / name).write_text(found[1])
    text = """\
extern "C" void solve(const float* x, float* y, int N, float slope) {
  for (int i = 0; i < N; ++i) y[i] = x[i] > 0 ? x[i] : slope * x[i];
}
"""
    (folder / "v0.cpp").write_text(text)
    case = load_problem(folder).cases_on("interpreter")[0].case
    job = small.job(folder, tmp_path, small.Source("v0.cpp", text), cases=(case,))
    with EvaluatorService() as service:
        report = service.evaluate(replace(job, timed=False))
    assert report.outcome is Outcome.PASSED, report.reason
