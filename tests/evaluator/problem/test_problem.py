"""problem.toml is read strictly; every refusal is one line with file and field."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.problem_words import DISTRIBUTIONS
from tests.evaluator import small


def test_it_reads_a_problem(problem):
    spec = load_problem(problem)
    assert spec.name == "double"
    assert spec.files == {"cpp": "v0.cpp"}
    assert [case.name for case in spec.cases_on("gpu")] == ["n4096"]


def test_it_reads_the_flags_of_a_v0(tmp_path):
    toml = small.TOML.replace("[tolerance]", '[flags]\ncpp = ["-fopenmp"]\n[tolerance]', 1)
    assert load_problem(small.write_problem(tmp_path, toml)).flags == {"cpp": ("-fopenmp",)}


def test_a_triton_kernel_without_a_gpu_is_tried_on_cases_for_the_interpreter(tmp_path):
    spec = load_problem(small.write_problem(tmp_path))
    assert [case.name for case in spec.cases_of("triton", "cpu")] == ["n4096"]
    toml = small.TOML + '[[case]]\nname = "few"\non = ["interpreter"]\nparams = { N = 64 }\n'
    (tmp_path / "double" / "problem.toml").write_text(toml)
    spec = load_problem(tmp_path / "double")
    assert [case.name for case in spec.cases_of("triton", "cpu")] == ["few"]
    for backend, kind in (("triton", "gpu"), ("cpp", "cpu")):
        assert [case.name for case in spec.cases_of(backend, kind)] == ["n4096"]


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
        ("params = {", 'step = "a"\nparams = {', "step, direction: both or neither"),
        (
            "params = {",
            'step = "a"\ndirection = "up"\nparams = {',
            "direction: 'up'; accepted: forward, backward",
        ),
        (
            "params = {",
            'step = "a"\ndirection = "forward"\nparams = {',
            "step 'a': one forward and one backward case are needed",
        ),
        ("atol = 1e-6", "atol = -1", r"a number of at least 0 is needed, found -1"),
        ("atol = 1e-6", "norm = 0\natol = 1", r"norm: a number above 0 is needed, found 0"),
        ("[[case]]", '[check]\nfree = ["Q"]\n[[case]]', r"\[check\]: free: 'Q'; accepted: N"),
        ("schema = 1", 'schema = 1\nweights = "x"', "weights: a list of names"),
        ("[files]", 'flags = "-O3"\n[files]', r"\[flags\]: a table such as"),
        ("[files]", '[flags]\ncuda = ["-O3"]\n[files]', r"\[flags\]: 'cuda'; accepted: cpp"),
        ("[files]", '[flags]\ncpp = "-O3"\n[files]', r"\[flags\] cpp: a list such as"),
        ("[files]", '[flags]\ncpp = ["-o/x"]\n[files]', r"\[flags\] cpp: '-o/x'; accepted: -O…"),
        ("schema = 1", "schema = 1\nweights = [1]", "weights: a list of names"),
        ("schema = 1", "schema = 1\nlibrary = 1", "library: 1; accepted: a call such as"),
        ("schema = 1", 'schema = 1\nlibrary = "x + y"', r"library: 'x \+ y'; accepted"),
        ("schema = 1", 'schema = 1\nlibrary = "f(x); g(y)"', "accepted: a call such as"),
    ],
)
def test_it_names_what_is_wrong(tmp_path, old, new, words):
    problem = small.write_problem(tmp_path, toml=small.TOML.replace(old, new))
    with pytest.raises(ProblemError, match=words) as caught:
        load_problem(problem)
    assert str(caught.value).startswith(("double/problem.toml: ", "double/problem.toml, line "))
    assert "\n" not in str(caught.value)


def test_it_names_the_line(tmp_path):
    text = small.TOML + "[tolerance.outputs.y]\nsteps = 9\n"
    line = text.splitlines().index("steps = 9") + 1
    with pytest.raises(
        ProblemError, match=rf"^double/problem\.toml, line {line}: \[tol.* found 9$"
    ):
        load_problem(small.write_problem(tmp_path, toml=text))


def test_r4_a_problem_allows_tf32_by_its_declared_precision(tmp_path):
    toml = small.TOML.replace('dtype = "float32"', 'dtype = "tfloat32"')
    assert load_problem(small.write_problem(tmp_path, toml=toml)).dtype == "tfloat32"


def test_a_problem_names_the_librarys_kernel(tmp_path):
    toml = small.TOML.replace("schema = 1", 'schema = 1\nlibrary = "torch.mul(x, 2, out=y)"')
    problem = load_problem(small.write_problem(tmp_path, toml=toml))
    assert problem.call_of_library == "torch.mul(x, 2, out=y)"


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


GROUPED = small.TOML.replace('op = "scale"', 'op = "grouped_gemm"')
OF_EACH = "".join(
    f'[[case]]\nname = "{name}"\ndistribution = "{name}"\nparams = {{ N = 4096 }}\n'
    for name in DISTRIBUTIONS
)


@pytest.mark.parametrize(
    "toml",
    [
        GROUPED,
        small.TOML.replace("schema = 1", "schema = 1\ngrouped = true"),
        small.TOML.replace('op = "scale"', 'op = "moe-combine"'),
        GROUPED + OF_EACH.replace('distribution = "half_in_one"\n', ""),
        GROUPED + OF_EACH.replace('distribution = "empty_group"\n', 'on = ["cpu"]\n'),
    ],
)
def test_r22_a_grouped_operator_without_skewed_cases_is_refused(tmp_path, toml):
    with pytest.raises(ProblemError, match=r"is grouped, and no case on [cg]pu has distribution"):
        load_problem(small.write_problem(tmp_path, toml=toml))


def test_r22_a_grouped_operator_gives_its_setup_the_distribution(tmp_path):
    problem = load_problem(small.write_problem(tmp_path, toml=GROUPED + OF_EACH))
    given = {case.name: case.case.params.get("distribution") for case in problem.cases}
    assert given == {"n4096": None, **{name: name for name in DISTRIBUTIONS}}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("params = {", 'distribution = "even"\nparams = {', "distribution: 'even'; accepted: unif"),
        ("{ N = 4096 }", '{ N = 4096, distribution = "uniform" }', "accepted: distribution beside"),
        ("schema = 1", 'schema = 1\ngrouped = "yes"', "grouped: true or false"),
        ("schema = 1", 'schema = 1\nrepresentative = "n4096"', "representative: a list"),
        ("schema = 1", 'schema = 1\nrepresentative = ["n1"]', "'n1'; accepted: n4096"),
    ],
)
def test_r18_r22_it_names_what_is_wrong_with_levels_and_distributions(tmp_path, old, new, words):
    with pytest.raises(ProblemError, match=words):
        load_problem(small.write_problem(tmp_path, toml=small.TOML.replace(old, new)))


def test_r18_a_problem_names_its_representative_cases(tmp_path):
    toml = small.TOML.replace("schema = 1", 'schema = 1\nrepresentative = ["n4096"]')
    assert load_problem(small.write_problem(tmp_path, toml=toml)).representative == ("n4096",)
