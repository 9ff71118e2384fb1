"""Adversarial sets, near-duplicates and hidden sizes are made from the problem's own example."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.contract import Case, Outcome
from campaigns.evaluator.judge import sets
from campaigns.evaluator.problem import CheckSpec, ProblemError, load_problem
from tests.evaluator import small

X = torch.arange(64, dtype=torch.float32).view(8, 8) + 1
INPUTS = {"x": X, "at": torch.arange(8), "y": torch.zeros(8), "N": 8}


def test_it_changes_floating_inputs_and_nothing_else():
    for name in sets.MAKE:
        made = sets.adversarial(name, INPUTS, ("y",))
        assert made is not None
        assert made["at"] is INPUTS["at"]
        assert made["y"] is INPUTS["y"]
        assert not torch.equal(made["x"], X)


def test_it_makes_no_set_of_integers_alone_and_none_that_is_not_finite():
    assert sets.adversarial("zeros", {"at": torch.arange(8)}, ()) is None
    huge = {"x": torch.full((4,), 6e4, dtype=torch.float16)}
    assert sets.adversarial("large", huge, ()) is None


def test_it_changes_only_a_few_elements_of_a_near_duplicate():
    made = sets.near_duplicate(INPUTS, ("y",))
    assert made is not None
    assert int((made["x"] != X).sum()) <= sets.CHANGED


def test_it_moves_sizes_and_leaves_switches_alone():
    case = Case("c", {"N": 512, "heads": 8, "causal": True, "scale": 0.5, "name": "x"})
    found = sets.hidden_cases(case, CheckSpec())
    assert set(found) == {"smaller", "larger"}
    for hidden, sign in ((found["smaller"], -1), (found["larger"], 1)):
        assert 1 <= sign * (int(hidden.params["N"]) - 512) <= sets.MOST_MOVED
        assert {k: v for k, v in hidden.params.items() if k != "N"} == {
            k: v for k, v in case.params.items() if k != "N"
        }
    assert sets.hidden_cases(case, CheckSpec(free=())) == {}
    assert "heads" in sets.free_parameters(case, CheckSpec(free=("heads",)))


def test_it_does_not_tell_the_hidden_sizes(service, problem, tmp_path):
    only = small.source("if (N != 4096) return; " + small.LOOP)
    report = service.evaluate(small.job(problem, tmp_path, only))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "hidden sizes, N a little" in report.reason
    assert "never written" in report.reason
    assert not any(str(n) in report.reason for n in range(4089, 4104) if n != 4096)


def test_it_leaves_hidden_sizes_out_where_the_setup_refuses_them(service, tmp_path):
    ref = small.REF.replace("    g = torch", "    assert N % 64 == 0\n    g = torch")
    problem = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(problem, tmp_path, small.source()))
    assert report.outcome is Outcome.PASSED, report.reason
    assert any("no hidden sizes" in note for note in report.notes)


def test_it_leaves_sets_out_on_which_the_reference_is_not_finite(service, tmp_path):
    # 1 / x has no answer for zeros; a kernel that is right otherwise passes.
    ref = small.REF.replace("torch.mul(x, 2, out=y)", "y.copy_(1 / x)")
    problem = small.write_problem(tmp_path, ref=ref)
    kernel = small.source("for (int i = 0; i < N; ++i) y[i] = x[i] == 0 ? 5 : 1 / x[i];")
    report = service.evaluate(small.job(problem, tmp_path, kernel))
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('sets = ["odd"]', r"\[check\]: sets: 'odd'; accepted: zeros"),
        ('sets = "zeros"', r"\[check\] sets: a list"),
        ("align = 3", r"\[check\] align: 3; accepted: 1, 2"),
        ("colour = 1", r"\[check\]: colour: unknown"),
    ],
)
def test_it_names_what_is_wrong_in_the_check_table(tmp_path, line, words):
    toml = small.TOML.replace("[[case]]", f"[check]\n{line}\n[[case]]", 1)
    with pytest.raises(ProblemError, match=words):
        load_problem(small.write_problem(tmp_path, toml=toml))


def test_it_reads_tolerances_of_single_outputs(tmp_path):
    toml = small.TOML.replace(
        "[[case]]", "[tolerance.outputs.y]\natol = 2\nnorm = 0.5\n[[case]]", 1
    )
    spec = load_problem(small.write_problem(tmp_path, toml=toml))
    assert spec.bounds["y"].atol == 2
    assert spec.bounds["y"].rtol is None
    assert spec.bounds[""].rtol == 1e-6
    (tmp_path / "again").mkdir()
    bad = small.write_problem(tmp_path / "again", toml=toml.replace("atol = 2", "colour = 2"))
    with pytest.raises(ProblemError, match=r"outputs.y\]: colour: unknown"):
        load_problem(bad)


def test_it_measures_how_far_repeats_differ(judge):
    before = "static int calls = 0;\n"
    body = "float a = (++calls % 2) * 1e-7f; for (int i = 0; i < N; ++i) y[i] = 2 * x[i] * (1 + a);"
    same = judge(small.source(), timed=False)
    assert same.cases[0].repeat_margin == 0
    apart = judge(small.Source("a.cpp", small.source(body, before).text), timed=False)
    assert apart.outcome is Outcome.PASSED, apart.reason
    assert 0 < apart.cases[0].repeat_margin <= 1
