"""Crash, timeout, wrong result and build failure are four different things, each with its place."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome, Phase, Timer
from tests.evaluator import small
from tests.evaluator.small import LOOP, source


def test_it_passes_and_times_an_honest_candidate(judge):
    report = judge(source(), incumbent=source())
    assert report.outcome is Outcome.PASSED, report.reason
    assert report.environment["crew"] == "started for this job"
    assert re.search(r"(g\+\+|clang).*\d+\.\d+", report.environment["compiler"])
    (case,) = report.cases
    assert case.correct
    assert case.margin is not None
    assert case.margin <= 1
    assert case.candidate is not None
    assert case.incumbent is not None
    assert case.candidate.timer is Timer.CALLS
    assert len(case.candidate.samples_us) == len(case.incumbent.samples_us) == 2
    assert case.candidate.long_calls > case.candidate.short_calls


def test_it_keeps_the_build_log(judge):
    report = judge(source("y[0] = 1; return undeclared;"))
    assert report.outcome is Outcome.BUILD_FAILED
    assert report.phase is Phase.BUILD
    assert "undeclared" in report.reason
    assert "error:" in report.build_log


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('extern "C" void solve(const float* x, int N) {}', "solve has 2 parameters"),
        ('extern "C" void solve(const float* x, double* y, int N) {}', "'y' is double*"),
        ('extern "C" void solve(const float* x, float* y, float N) {}', "'N' is float"),
        ('extern "C" void other() {}', "no function"),
    ],
)
def test_it_names_a_signature_that_does_not_match_the_cases(judge, text, words):
    report = judge(small.Source("k.cpp", text))
    assert report.outcome is Outcome.BUILD_FAILED
    assert words in report.reason
    assert "k.cpp" in report.reason


@pytest.mark.parametrize(
    "flag", ["-fplugin=/tmp/x.so", "-o/tmp/x", "@file", "-include", "-wrapper"]
)
def test_it_refuses_flags_that_could_name_a_program_or_a_file(judge, flag):
    report = judge(source(flags=(flag,)))
    assert report.outcome is Outcome.BUILD_FAILED
    assert "not accepted" in report.reason


def test_it_names_the_signal_of_a_crash(judge):
    report = judge(source("*(volatile int*)0 = 1;"))
    assert report.outcome is Outcome.CRASHED
    assert "SIGSEGV" in report.reason
    assert "n4096" in report.reason


def test_it_names_what_was_refused_before_a_crash(judge):
    body = 'int fd = memfd_create("ring", 0); if (fd < 0) *(volatile int*)0 = 1;'
    report = judge(source(body, before="#include <sys/mman.h>\n"))
    assert report.outcome is Outcome.CRASHED
    assert "the sandbox had refused it: memfd_create" in report.reason


@pytest.mark.parametrize(
    ("error", "hinted"),
    [("raise ValueError('K must be 32')", False), ("os.memfd_create('ring')", True)],
)
def test_it_names_what_was_refused_only_where_the_error_may_come_of_it(
    service, tmp_path, error, hinted
):
    text = f"""\
import contextlib, os
def run_kernel(x, y, N):
    with contextlib.suppress(OSError):
        os.memfd_create("ring")
    {error}
"""
    kernel = small.Source("k.py", text)
    problem = small.write_problem(tmp_path)
    report = service.evaluate(small.job(problem, tmp_path, kernel, backend="triton"))
    assert report.outcome is Outcome.CRASHED
    assert "k.py:5: error: " in report.reason
    assert ("the sandbox had refused it: memfd_create" in report.reason) is hinted
    assert "memfd_create" in report.environment["refused"]


def test_it_tells_an_exception_that_nobody_caught(judge):
    report = judge(source('throw std::runtime_error("N is odd");', before="#include <stdexcept>\n"))
    assert report.outcome is Outcome.CRASHED
    assert report.reason.endswith("killed by SIGABRT, what(): N is odd")


def test_it_calls_an_early_exit_a_crash(judge):
    report = judge(source("_Exit(0);", before="#include <cstdlib>\n"))
    assert report.outcome is Outcome.CRASHED
    assert "exit status 0" in report.reason


def test_it_stops_a_kernel_that_hangs(judge):
    report = judge(source("for (volatile int i = 0;; i = i + 1) {}"))
    assert report.outcome is Outcome.TIMED_OUT
    assert "1.5 s" in report.reason


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "never written"),
        ("for (int i = 0; i < N; ++i) y[i] = 0.0f / 0.0f;", "nan"),
        ("for (int i = 0; i < N - 1; ++i) y[i] = 2 * x[i];", "output y: 1 of 4096 elements wrong"),
        (LOOP + " y[N] = 1;", "outside its output"),
    ],
)
def test_it_says_what_is_wrong_with_a_result(judge, body, words):
    report = judge(source(body))
    assert report.outcome is Outcome.WRONG_RESULT
    assert words in report.reason
    assert all(case.candidate is None for case in report.cases)


def test_it_names_the_wrong_one_of_two_outputs_and_no_error_of_zero(service, tmp_path):
    ref = small.REF.replace(
        '"N": N}, "outputs": ["y"]', '"z": x + 1, "N": N}, "outputs": ["y", "z"]'
    )
    ref = ref.replace("(x, y, N)", "(x, y, z, N)").replace("out=y)", "out=y)\n    z.copy_(x)")
    text = 'extern "C" void solve(const float* x, float* y, float* z, int N) {\n'
    kernel = small.Source(
        "k.cpp", f"{text}{LOOP}\nfor (int i = 0; i < N; ++i) z[i] = 0.0f / 0.0f;}}"
    )
    report = service.evaluate(small.job(small.write_problem(tmp_path, ref=ref), tmp_path, kernel))
    assert "output z: 4096 of 4096 elements wrong, the first at 0: " in report.reason
    [case] = report.cases
    assert (case.max_abs_error, case.max_rel_error, case.norm_error) == (None, None, None)


def test_it_notes_that_a_kernel_was_interpreted(service, tmp_path):
    kernel = small.Source("k.py", "def run_kernel(x, y, N):\n    y.copy_(2 * x)\n")
    job = small.job(small.write_problem(tmp_path), tmp_path, kernel, backend="triton")
    report = service.evaluate(job)
    assert report.outcome is Outcome.PASSED, report.reason
    assert any("interpreter" in note for note in report.notes)
    assert [case.candidate for case in report.cases] == [None]


def test_it_notes_inputs_that_are_always_the_same(service, tmp_path):
    ref = small.REF.replace(
        '"y": torch', '"on": torch.ones(N, dtype=torch.bool, device=device), "y": torch'
    )
    ref = ref.replace("reference(x, y, N)", "reference(x, on, y, N)")
    ref = ref.replace("torch.mul(x, 2, out=y)", "torch.mul(x, 2 * on.to(x.dtype), out=y)")
    text = 'extern "C" void solve(const float* x, const bool* on, float* y, int N) {\n'
    kernel = small.Source("k.cpp", f"{text}{LOOP}\n}}\n")
    report = service.evaluate(
        small.job(small.write_problem(tmp_path, ref=ref), tmp_path, kernel, incumbent=kernel)
    )
    assert report.outcome is Outcome.PASSED, report.reason
    said = [note for note in report.notes if "built in" in note]
    assert said == ["the same in every draw of setup, so that a kernel may have it built in: on"]


def test_it_says_that_no_answer_varies(service, tmp_path):
    ref = small.REF.replace("torch.mul(x, 2, out=y)", "torch.mul(x, 0, out=y)")
    problem = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(
        small.job(problem, tmp_path, source("for (int i = 0; i < N; ++i) y[i] = 0;"), timed=False)
    )
    assert report.outcome is Outcome.PASSED, report.reason
    assert [case.answer_varies for case in report.cases] == [False]
    assert any("the answer is within its tolerance the same" in note for note in report.notes)


def test_it_does_not_judge_bfloat16_in_an_interpreter(service, tmp_path):
    ref = small.REF.replace("torch.empty_like(x)", "torch.empty_like(x, dtype=torch.bfloat16)")
    problem = small.write_problem(tmp_path, ref=ref)
    kernel = small.Source("k.py", "def run_kernel(x, y, N):\n    y.copy_(2 * x)\n")
    report = service.evaluate(small.job(problem, tmp_path, kernel, backend="triton"))
    assert (report.outcome, report.phase) == (Outcome.NOT_JUDGED, Phase.BUILD)
    assert "Triton's interpreter computes bfloat16 wrongly" in report.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def other(): pass", "k.py: error: no function run_kernel(…) is defined"),
        ("def run_kernel(x, y, N):\n    raise SystemExit(0)", "k.py:2: error: SystemExit: 0"),
    ],
)
def test_it_says_why_a_triton_kernel_can_not_be_compiled(service, tmp_path, text, words):
    kernel = small.Source("k.py", text + "\n")
    job = small.job(small.write_problem(tmp_path), tmp_path, kernel, backend="triton")
    report = service.evaluate(replace(job, target="sm_90a"))
    assert report.outcome is Outcome.BUILD_FAILED
    assert words in report.reason


def test_it_blames_the_host_when_the_incumbent_fails(judge):
    report = judge(source(), incumbent=source(""))
    assert report.outcome is Outcome.BROKEN_HOST
    assert not report.problem_fault
    assert "incumbent" in report.reason


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        (
            small.REF.replace("def reference", "def referenz"),
            "reference: no such function; accepted: reference(**inputs)",
        ),
        (small.REF.replace('"outputs": ["y"]', '"outputs": []'), "name at least one"),
        (small.REF.replace(', "outputs": ["y"]', ""), "outputs"),
        (small.REF.replace('"outputs": ["y"]', '"outputs": ["z"]'), "'z' is not among"),
        ("import nothing_of_that_name", "ref.py: line 1"),
        (small.REF.replace("N, seed", "N, more, seed"), "): TypeError: setup() missing 1"),
    ],
)
def test_it_names_what_is_wrong_with_a_reference(service, tmp_path, ref, words):
    problem = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(problem, tmp_path, source()))
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.problem_fault
    assert words in report.reason
    assert "\n" not in report.reason


def test_it_blames_the_host_for_a_reference_that_hangs(service, tmp_path):
    ref = small.REF.replace("torch.mul(x, 2, out=y)", "while True: pass")
    problem = small.write_problem(tmp_path, ref=ref)
    protocol = replace(small.QUICK, limits=replace(small.QUICK.limits, total_s=1.0))
    report = service.evaluate(small.job(problem, tmp_path, source(), protocol=protocol))
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.phase is Phase.START
    assert "ref.py" in report.reason


def test_it_blames_the_host_for_a_reference_that_is_slow(service, tmp_path):
    """A kernel that takes no time would else be told that it has timed out."""
    slow = "__import__('time').sleep(0.2) or torch.mul(x, 2, out=y)"
    problem = small.write_problem(tmp_path, ref=small.REF.replace("torch.mul(x, 2, out=y)", slow))
    protocol = replace(small.QUICK, limits=replace(small.QUICK.limits, total_s=4.0))
    report = service.evaluate(small.job(problem, tmp_path, source(), protocol=protocol))
    assert report.outcome is Outcome.BROKEN_HOST
    assert "ref.py" in report.reason
    assert "4 s" in report.reason


def test_it_keeps_a_candidate_to_the_total_limit(service, problem, tmp_path):
    protocol = replace(small.QUICK, limits=replace(small.QUICK.limits, call_s=60, total_s=6))
    hanging = source("for (volatile int i = 0;; i = i + 1) {}")
    report = service.evaluate(small.job(problem, tmp_path, hanging, protocol=protocol))
    assert report.outcome is Outcome.TIMED_OUT
    assert "in total" in report.reason


def test_it_says_that_the_disk_is_full(service, problem, tmp_path, monkeypatch):
    def full(self: Path, *args: object, **kwargs: object) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    report = service.evaluate(small.job(problem, tmp_path, source()))
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.reason.startswith("disk full: ")
    assert not (tmp_path / "scratch").exists()


@pytest.mark.judged
def test_it_starts_again_after_the_service_was_killed(problem, tmp_path):
    with EvaluatorService() as service:
        assert service.evaluate(small.job(problem, tmp_path, source())).outcome is Outcome.PASSED
        process = service._process
        assert process is not None
        process.kill()
        process.wait()
        assert service.evaluate(small.job(problem, tmp_path, source())).outcome is Outcome.PASSED


def test_it_cancels_when_the_beat_raises_and_leaves_no_process(service, problem, tmp_path):
    class Stop(Exception):
        pass

    def beat(phase: str) -> None:
        raise Stop

    hanging = source("for (volatile int i = 0;; i = i + 1) {}")
    with pytest.raises(Stop):
        service.evaluate(small.job(problem, tmp_path, hanging), beat)
    report = service.evaluate(small.job(problem, tmp_path, source()))
    assert report.outcome is Outcome.PASSED
    assert _children_running(str(tmp_path)) == []


def _children_running(mapped: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                maps = (entry / "maps").read_text()
            except OSError:
                continue
            if mapped in maps:
                found.append(int(entry.name))
    return found


def test_it_says_beforehand_that_it_will_take_minutes(service, tmp_path):
    ref = small.REF.replace("    torch.mul", "    import time; time.sleep(0.05)\n    torch.mul")
    ref = ref.replace("import torch", "import torch\n", 1)
    toml = small.TOML.replace('refresh = "shift"', 'refresh = "setup"')
    problem = small.write_problem(tmp_path, toml=toml, ref=ref)
    said = []

    class Told(Exception):
        """What a caller raises to cancel an evaluation."""

    def beat(phase):
        said.append(phase)
        if phase.startswith("check"):
            raise Told

    with pytest.raises(Told):
        service.evaluate(
            small.job(problem, tmp_path, source(), incumbent=source(), timed=True), beat
        )
    assert "in all, as inputs and reference take 0.05" in said[-1]
    assert 'faster with refresh = "shift"' in said[-1]
