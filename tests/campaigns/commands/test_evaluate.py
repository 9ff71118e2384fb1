"""`evaluate` and `problem`: one file through the judge, without a database."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from campaigns.evaluator.contract import (
    CopiedOutput,
    Moment,
    Outcome,
    Phase,
    Repeats,
    Report,
    backends,
)
from campaigns.problems.import_.draft import ADDED
from campaigns.rules.target.roofline import Work, physical_floor
from tests.campaigns.commands.test_campaign import Service
from tests.campaigns.rules.builders import ceiling
from tests.campaigns.steps import cast

COMMAND = "campaigns.management.commands.evaluate"


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    monkeypatch.setattr("campaigns.management.one_file.EvaluatorService", Service)
    monkeypatch.setattr("campaigns.management.one_file.this_device", lambda choice: cast.DEVICE)
    monkeypatch.setattr(f"{COMMAND}.floors_here", lambda name, spec, cases: ({}, {}))


@pytest.fixture
def problem(tmp_path):
    return str(cast.write_problem(tmp_path))


@pytest.fixture
def told(monkeypatch):
    """The service, which changes its reports so and says these phases; the jobs that it gets."""

    def tell(change, *phases):
        jobs = []

        class Told(Service):
            def evaluate(self, job, beat=None):
                jobs.append(job)
                for phase in phases:
                    beat(phase)
                return change(super().evaluate(job))

        monkeypatch.setattr("campaigns.management.one_file.EvaluatorService", Told)
        return jobs

    return tell


def candidate(tmp_path, text, name="kernel.cpp"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def answer(capsys, *arguments):
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def words(tmp_path, problem):
    """The command line that evaluates a file with such a text."""

    def made(text, *options, name="kernel.cpp"):
        return ("evaluate", candidate(tmp_path, text, name), "--problem", problem, *options)

    return made


def test_it_prints_outcome_verdict_and_cases(words, capsys):
    found = answer(capsys, *words("time 70", "--case", "two"))
    said = found["outcome"], found["verdict"], found["reason"]
    assert said == ("passed", "accepted", "baseline")
    assert [case["case"] for case in found["cases"]] == ["two"]
    times = found["cases"][0]["time_us"]
    assert times["low"] <= times["median"] <= times["high"]
    assert (times["median"], times["n"]) == (pytest.approx(70.0), 10)
    assert found["cases"][0]["max_abs_error"] == 0.0


@pytest.mark.parametrize(
    ("text", "log", "reason"),
    [
        ("import torch\n", "", "not_its_own_kernel"),
        ("@triton.jit\ndef k(x): ...\n", "compiled for sm_90a: no kernel", "not_its_own_kernel"),
        ("@triton.jit\ndef k(x): ...\n", "compiled for sm_90a: k", "not_timed"),
    ],
)
def test_right_answers_without_a_kernel_are_no_success_in_an_interpreter(
    words, told, capsys, text, log, reason
):
    def interpreted(report):
        cases = tuple(replace(case, candidate=None) for case in report.cases)
        return replace(report, build_log=log, cases=cases)

    told(interpreted)
    asked = words(f"# time 70\n{text}", name="kernel.py")
    if reason == "not_timed":
        assert answer(capsys, *asked)["reason"] == reason
        return
    with pytest.raises(CommandError, match="no kernel of its own source was launched"):
        call_command(*asked)
    assert capsys.readouterr().out.startswith("no kernel of its own; verdict: needs review")


def test_it_takes_a_file_in_the_form_in_which_the_first_kernel_was_brought(problem, words, told):
    jobs = told(lambda report: report)
    own = "// time 70\nvoid twice(float* x) {}\n"
    added = f'// {ADDED}\nextern "C" void solve(float* x) {{ twice(x); }}\n'
    (Path(problem) / "v0.cpp").write_text(f"{own}\n{added}")
    for text in (f"{own}int main() {{ return 0; }}\n", own + added, "// time 70\n"):
        call_command(*words(text))
    adapted = f"{own}\n// line 5 of kernel.cpp\n{added}"
    assert [job.candidate.text for job in jobs] == [adapted, own + added, "// time 70\n"]


def test_it_tells_what_reading_the_source_shows_and_refuses_nothing(words, capsys):
    asked = words("// time 70\nvoid f() { fork(); }")
    found = answer(capsys, *asked)
    assert (found["outcome"], found["verdict"]) == ("passed", "accepted")
    assert [(f["kind"], f["line"]) for f in found["findings"]] == [("process", 2)]
    gate = {gate["name"]: gate for gate in found["gates"]}["static findings"]
    assert (gate["passed"], gate["found"]) == (True, "flagged: line 2, fork (process)")
    call_command(*asked)
    said = capsys.readouterr().out
    assert said.startswith("passed; verdict: accepted (baseline)")
    assert "  finding: line 2, fork (process)" in said
    assert "`evaluate` refuses nothing because of them" in said


def test_it_shows_the_last_words_of_what_crashed(words, told, capsys):
    told(lambda report: replace(report, runner_log="row 1\nrow 2\n"))
    with pytest.raises(CommandError):
        call_command(*words("crash"))
    assert "  it printed: row 1\n  it printed: row 2\n" in capsys.readouterr().out


def test_it_says_how_many_cores_a_call_kept_busy(words, told, capsys):
    def threaded(report):
        timing = replace(report.cases[0].candidate, cpu_us=133.0)
        return replace(report, cases=(replace(report.cases[0], candidate=timing),))

    told(threaded)
    asked = words("time 70", "--case", "two")
    found = answer(capsys, *asked)["cases"][0]
    assert (found["cpu_us"], found["cores"]) == (133.0, pytest.approx(1.9))
    call_command(*asked)
    assert ", 133 µs of CPU time on 1.9 cores\n" in capsys.readouterr().out


def test_it_says_what_a_timed_call_copies(words, told, capsys):
    def copying(report):
        copied = replace(report.cases[0].candidate, copied=(CopiedOutput("y", 16_800_000),))
        return replace(report, cases=(replace(report.cases[0], candidate=copied),))

    told(copying)
    found = answer(capsys, *words("time 70", "--case", "two"))
    assert found["cases"][0]["copied"] == [{"name": "y", "nbytes": 16_800_000}]
    call_command(*words("time 70", "--case", "two"))
    note = "note: Each timed call copies `y` (16.8 MB) into its place; a caller that takes"
    assert note in capsys.readouterr().out
    assert note.endswith(found["notes"][0].partition(" the returned")[0])


def test_it_compares_with_another_file(tmp_path, words, capsys):
    old = candidate(tmp_path, "time 100", "old.cpp")
    found = answer(capsys, *words("time 50", "--against", old))
    assert found["reason"] == "promoted"
    assert found["gain"] == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(("gate", "code"), [("GPU", 5), ("OFF", 0)])
def test_a_comparison_beside_other_load_is_undecided(
    tmp_path, words, told, capsys, settings, gate, code
):
    def crowded(report):
        return replace(report, surroundings=(Moment("one", 1, others=1.0),))

    told(crowded)
    settings.KOPT_GATE = gate
    asked = words("time 50", "--against", candidate(tmp_path, "time 100", "old.cpp"))
    if code == 0:
        assert answer(capsys, *asked)["verdict"] == "accepted"
        return
    with pytest.raises(CommandError, match=r"^Undecided: 2\.00× faster") as caught:
        call_command(*asked)
    assert caught.value.returncode == code
    assert "passed; verdict: not judged here (undecided)" in capsys.readouterr().out
    assert "others had 50 % of the CPUs. Measure again where" in str(caught.value)


def test_what_comes_again_faster_beside_other_load_is_undecided(tmp_path, words, told):
    usual = (10.0,) * 6
    honest, fitted = (Repeats(1, usual, usual, (), (time,) * 6) for time in (10.0, 5.0))

    def crowded(report):
        cases = [
            replace(
                case,
                candidate=replace(case.candidate, repeats=fitted),
                incumbent=replace(case.incumbent, repeats=honest),
            )
            for case in report.cases
        ]
        moments = (Moment("one", 1, others=1.0),)
        return replace(report, cases=tuple(cases), surroundings=moments)

    told(crowded)
    with pytest.raises(CommandError, match=r"^Undecided: others had 50 % of the CPUs"):
        call_command(*words("time 50", "--against", candidate(tmp_path, "time 100", "old.cpp")))


def test_it_compares_with_a_file_of_another_backend(tmp_path, words, told, capsys):
    jobs = told(lambda report: report)
    old = candidate(tmp_path, "# time 100", "old.py")
    compared = words("time 50", "--against", old, "--against-backend")
    assert answer(capsys, *compared, "torch")["reason"] == "promoted"
    assert (jobs[-1].backend, jobs[-1].incumbent_backend) == ("cpp", "torch")
    with pytest.raises(CommandError, match="backend: 'jax'; accepted: cpp, cuda, torch, triton"):
        call_command(*compared, "jax")


@pytest.mark.parametrize(
    ("flags", "candidate_has", "incumbent_has"),
    [
        ((), ("-fopenmp",), ("-fopenmp",)),
        (("--flag=-O3",), ("-fopenmp", "-O3"), ("-fopenmp", "-O3")),
        (("--flag=-O3", "--against-flag=-O1"), ("-fopenmp", "-O3"), ("-fopenmp", "-O1")),
        (("--flag=-O3", "--against-flag="), ("-fopenmp", "-O3"), ("-fopenmp",)),
    ],
)
def test_both_arms_are_compiled_alike_unless_a_difference_is_asked_for(
    tmp_path, problem, words, told, capsys, flags, candidate_has, incumbent_has
):
    with (Path(problem) / "problem.toml").open("a") as toml:
        toml.write('\n[flags]\ncpp = ["-fopenmp"]\n')
    jobs = told(lambda report: report)
    asked = words("time 50", "--against", candidate(tmp_path, "time 100", "old.cpp"), *flags)
    found = answer(capsys, *asked)
    assert (jobs[-1].candidate.flags, jobs[-1].incumbent.flags) == (candidate_has, incumbent_has)
    call_command(*asked)
    first = capsys.readouterr().out.splitlines()[0]
    differ = "The two arms are compiled with different flags: the candidate with "
    for said in (found["message"], first):
        assert said.startswith(differ) is (candidate_has != incumbent_has)
    if candidate_has != incumbent_has:
        assert f"with {' '.join(candidate_has)}, the incumbent with {incumbent_has[0]}" in first


def test_it_accepts_nothing_below_what_reading_the_inputs_takes(
    tmp_path, words, capsys, monkeypatch
):
    floor = physical_floor(Work(flops=1.0, bytes=6e8), [ceiling(1e13)], [])
    monkeypatch.setattr(f"{COMMAND}.floors_here", lambda *_: ({"one": floor}, {}))
    old = candidate(tmp_path, "time 100", "old.cpp")
    found = answer(capsys, *words("time 50", "--against", old))
    assert (found["verdict"], found["reason"]) == ("invalid", "above_roof")


SMALL = '\n[[case]]\nname = "small"\non = ["interpreter"]\nparams = { N = 16 }\n'


@pytest.mark.parametrize(
    ("file", "asked", "cases"),
    [
        ("kernel.py", [], ["small"]),
        ("kernel.py", ["--case", "two"], ["two"]),
        ("kernel.cpp", [], ["one", "two"]),
    ],
)
def test_an_interpreted_kernel_is_tried_on_cases_of_its_own(
    problem, words, file, asked, cases, capsys
):
    with (Path(problem) / "problem.toml").open("a") as toml:
        toml.write(SMALL)
    found = answer(capsys, *words("time 70", *asked, name=file))
    assert [case["case"] for case in found["cases"]] == cases


def test_it_says_what_is_going_on(words, told, capsys):
    told(lambda report: report, "build", "check one", "check one", "burst one", "done")
    call_command(*words("time 70"))
    said = capsys.readouterr()
    assert said.err.splitlines()[1:] == ["  building", "  checking one", "  bursts on one"]
    assert "  one              correct in " in said.out
    assert "calls, error at most 0 × tolerance, 70.0 µs (" in said.out


def with_cuda_compiler(monkeypatch, version):
    cuda = replace(backends.get("cuda"), compiler=lambda: version)
    monkeypatch.setitem(backends._REGISTRY, "cuda", cuda)


def test_without_a_gpu_cuda_is_built_for_the_least_case_of_one(words, told, capsys, monkeypatch):
    said = (Outcome.NOT_JUDGED, Phase.BUILD, "it is built")
    asked = told(lambda report: Report(report.job_id, *said))
    with_cuda_compiler(monkeypatch, "nvcc 13")
    with pytest.raises(CommandError, match="not_judged: it is built") as caught:
        call_command(*words("time 70", name="k.cu"))
    assert caught.value.returncode == 5
    assert (asked[0].target, asked[0].device) == ("sm_90a", "cpu")
    assert [case.name for case in asked[0].cases] == ["one"]
    printed = capsys.readouterr().out
    assert printed.startswith(
        "not judged here\nNot judged here: it is built. Nothing is concluded."
    )


def test_it_refuses_cuda_where_there_is_no_gpu_and_no_compiler(words, monkeypatch):
    with_cuda_compiler(monkeypatch, "")
    with pytest.raises(CommandError, match="no compiler of cuda is here") as caught:
        call_command(*words("time 70", name="kernel.cu"))
    assert caught.value.returncode == 1


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("crash", "crashed"), ("build", "build_failed"), ("wrong", "wrong_result")],
)
def test_it_exits_with_five_unless_the_outcome_is_passed(words, text, outcome, capsys):
    with pytest.raises(CommandError) as caught:
        answer(capsys, *words(text))
    assert caught.value.returncode == 5
    assert json.loads(capsys.readouterr().out)["outcome"] == outcome


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.cpp"], 2, "missing.cpp: no such file"),
        (["kernel.cpp", "--problem", "nowhere"], 2, "problem: 'nowhere'"),
        (["kernel.cpp", "--backend", "fortran"], 1, "backend: 'fortran'; accepted: cpp"),
        (["kernel.cpp", "--case", "three"], 1, "case: 'three'; accepted on cpu: one, two"),
        (["notes.txt"], 1, "notes.txt: accepted: a name in .cpp, .cc, .c, .cu, .py, or --backend"),
    ],
)
def test_it_refuses_bad_input_in_one_line(tmp_path, problem, arguments, code, said, monkeypatch):
    monkeypatch.chdir(tmp_path)
    candidate(tmp_path, "time 1")
    candidate(tmp_path, "time 1", "notes.txt")
    options = [] if "--problem" in arguments else ["--problem", problem]
    with pytest.raises(CommandError, match=said) as caught:
        call_command("evaluate", *arguments, *options)
    assert caught.value.returncode == code


def test_it_tells_a_fault_of_the_problem_as_such(words, told, capsys):
    reason = "tiny/ref.py:2: reference: leaves the output 'y' as it was"
    fault = (Outcome.BROKEN_HOST, Phase.START, reason)
    told(lambda report: Report(report.job_id, *fault, problem_fault=True))
    with pytest.raises(CommandError, match=r"problem: tiny/ref\.py:2: reference: ") as caught:
        call_command(*words("time 70"))
    assert caught.value.returncode == 1
    said = capsys.readouterr().out
    assert said.startswith("the problem has a fault: tiny/ref.py:2: reference: ")
    assert "broken" not in said
    with pytest.raises(CommandError):
        answer(capsys, *words("time 70"))
    assert json.loads(capsys.readouterr().out)["outcome"] == "problem"


CONSTANT = """import torch

def setup(*, N, seed, device):
    x = {x}
    return {{"inputs": {{"x": x, "y": torch.empty_like(x)}}, "outputs": ["y"]}}

def reference(*, x, y):
    {answer}
"""
DRAWN = "torch.rand(N, generator=torch.Generator().manual_seed(seed))"


@pytest.mark.parametrize(
    ("x", "line", "words"),
    [
        (DRAWN, "y.copy_(x + 1)", None),
        (DRAWN, "y.copy_(x - x)", "the answer is within its tolerance the same in every draw"),
        ("torch.ones(N)", "y.copy_(x + 1)", "setup gives the same inputs for every seed"),
    ],
)
def test_it_checks_what_a_kernel_could_get_away_with(tmp_path, problem, capsys, x, line, words):
    (Path(problem) / "ref.py").write_text(CONSTANT.format(x=x, answer=line))
    notes = answer(capsys, "problem", "check", problem)["notes"]
    assert [words in note for note in notes] == ([True] if words else [])


def test_a_problem_that_cannot_be_used_is_told_by_check_and_show(tmp_path, problem):
    (Path(problem) / "ref.py").write_text(CONSTANT.format(x=DRAWN, answer="return x + 1"))
    for verb in ("check", "show"):
        with pytest.raises(CommandError, match="what it returns is not read") as caught:
            call_command("problem", verb, problem)
        assert caught.value.returncode == 1


@pytest.mark.django_db
def test_it_lists_and_shows_the_shipped_problems(capsys):
    names = [problem["name"] for problem in answer(capsys, "problem", "list")]
    assert names == sorted(names)
    assert {"layernorm", "linear", "matmul", "softmax", "vector_add"} <= set(names)
    found = answer(capsys, "problem", "show", "softmax")
    assert found["files"]["cpp"] == "v0.cpp"
    assert found["read"]["arguments"][1] == {
        "name": "output",
        "role": "output",
        "dtype": "float32",
        "shape": [16, 1024],
        "typical": pytest.approx(1.6e-3, rel=0.05),
    }
    work = {"operations": 81920.0, "bytes": 131072.0, "unknown": "", "counted": False}
    assert found["read"]["work"] == work
    with pytest.raises(CommandError, match=r"problem: 'x'; accepted: .*layernorm") as caught:
        call_command("problem", "show", "x")
    assert caught.value.returncode == 2


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        (
            "class Model: ...\ndef get_inputs(): ...\n",
            r"tiny/ref.py: setup: no such function; accepted: .*; it defines: Model, get_inputs$",
        ),
        (
            "import torch\ndef setup(*, N, seed, device):\n    return {'inputs': {'x': "
            "torch.ones(N), 'y': torch.empty(N)}, 'outputs': ['y']}\n"
            "def reference(*, x, y):\n    return 2 * x\n",
            r"tiny/ref.py:4: reference: leaves the output 'y' as it was; .* accepted: an answer",
        ),
    ],
    ids=["no setup", "returns its answer"],
)
def test_showing_a_problem_finds_faults_of_its_code(problem, ref, words):
    (Path(problem) / "ref.py").write_text(ref)
    with pytest.raises(CommandError, match=words) as caught:
        call_command("problem", "show", problem)
    assert caught.value.returncode == 1
