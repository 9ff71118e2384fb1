"""problem.toml is read strictly; every refusal is one line with file and field."""

from __future__ import annotations

import pytest

from campaigns.evaluator.problem import ProblemError, load_problem
from tests.evaluator import small


def test_it_reads_a_problem(problem):
    spec = load_problem(problem)
    assert spec.name == "double"
    assert spec.files == {"cpp": "v0.cpp"}
    assert [case.name for case in spec.cases_on("gpu")] == ["n4096"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('cpp = "v0.cpp"', 'cpp = "../v0.cpp"', "leaves the problem folder"),
        ('cpp = "v0.cpp"', 'cpp = "/etc/passwd"', "leaves the problem folder"),
        ('cpp = "v0.cpp"', 'cpp = "missing.cpp"', "no such file"),
        ("schema = 1", "schema = 2", "schema: 1 is accepted"),
        ('title = "Double every element"', "", "title: a text is needed"),
        ('dtype = "float32"', 'dtype = "float31"', "dtype: 'float31'; accepted: float64"),
        ("atol = 1e-6", 'atol = "x"', r"\[tolerance\] atol"),
        ('on = ["cpu", "gpu"]', 'on = ["tpu"]', r"\[\[case\]\] 1: on: 'tpu'"),
        ("params = { N = 4096 }", "params = {}", r"\[\[case\]\] 1: params"),
        ("params = { N = 4096 }", "colour = 1", r"\[\[case\]\] 1: colour: unknown"),
        ("schema = 1", "schema = = 1", "problem.toml: "),
        ("schema = 1", 'schema = 1\nweights = "x"', "weights: a list of names"),
        ("schema = 1", "schema = 1\nweights = [1]", "weights: a list of names"),
    ],
)
def test_it_names_what_is_wrong(tmp_path, old, new, words):
    problem = small.write_problem(tmp_path, toml=small.TOML.replace(old, new))
    with pytest.raises(ProblemError, match=words) as caught:
        load_problem(problem)
    assert str(caught.value).startswith("double/problem.toml: ")
    assert "\n" not in str(caught.value)


def test_r4_a_problem_allows_tf32_by_its_declared_precision(tmp_path):
    toml = small.TOML.replace('dtype = "float32"', 'dtype = "tfloat32"')
    assert load_problem(small.write_problem(tmp_path, toml=toml)).dtype == "tfloat32"


def test_r20_a_problem_names_the_inputs_that_act_as_weights(tmp_path):
    toml = small.TOML.replace("schema = 1", 'schema = 1\nweights = ["x"]')
    assert load_problem(small.write_problem(tmp_path, toml=toml)).weights == ("x",)


def test_it_refuses_a_link_that_leaves_the_folder(problem, tmp_path):
    (tmp_path / "outside.cpp").write_text("")
    (problem / "v0.cpp").unlink()
    (problem / "v0.cpp").symlink_to(tmp_path / "outside.cpp")
    with pytest.raises(ProblemError, match="link that leaves"):
        load_problem(problem)


def test_it_wants_ref_py(problem):
    (problem / "ref.py").unlink()
    with pytest.raises(ProblemError, match=r"ref\.py"):
        load_problem(problem)
