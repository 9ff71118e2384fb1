"""Candidates that take all they can get are bounded, and the next evaluation does not notice."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome, Phase, Report, Source
from campaigns.evaluator.sandbox import limits, view
from campaigns.evaluator.sandbox.limits import with_descendants
from campaigns.evaluator.sandbox.linux import seccomp
from campaigns.evaluator.sandbox.policy import Policy
from tests.evaluator import small
from tests.evaluator.small import LOOP, source

MEMORY = 512 << 20
FIRST = "static int calls = 0;\nif (calls++ == 0) {\nBODY\n}\n" + LOOP
INCLUDES = "".join(
    f"#include <{name}>\n"
    for name in (
        *("cerrno", "cstdio", "cstdlib", "cstring", "vector", "thread", "chrono", "string"),
        *("fcntl.h", "signal.h", "sys/mman.h", "unistd.h", "pthread.h", "sys/resource.h"),
    )
)
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def bounded() -> Iterator[EvaluatorService]:
    with EvaluatorService(policy=Policy(memory_bytes=MEMORY)) as running:
        yield running


@pytest.fixture
def hog(bounded, problem, tmp_path) -> Iterator[Callable[..., Report]]:
    """Evaluate an honest kernel that first does `body`; an honest one alone passes afterwards."""

    def run(body: str, call_s: float = 60) -> Report:
        candidate = source(FIRST.replace("BODY", body), INCLUDES)
        # Under a busy machine the kernel takes its time to hand out pages and files.
        phases = replace(small.QUICK.limits, call_s=call_s)
        protocol = replace(small.QUICK, limits=phases)
        return bounded.evaluate(small.job(problem, tmp_path, candidate, protocol=protocol))

    yield run
    report = bounded.evaluate(small.job(problem, tmp_path, source()))
    assert report.outcome is Outcome.PASSED, report.reason
    deadline = time.monotonic() + 60
    while (left := with_descendants(bounded._process.pid)[1:]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


def printed(report: Report) -> int:
    """The number that a candidate printed last."""
    return int(report.runner_log.split()[-1])


def test_it_bounds_memory(hog):
    report = hog(f"for (int i = 0; i < 2048; ++i) memset(malloc({MEBIBYTE}), 1, {MEBIBYTE});")
    assert report.outcome is Outcome.CRASHED
    assert "over its memory limit of 512 MiB" in report.reason or "SIGSEGV" in report.reason


def test_it_bounds_threads(hog):
    report = hog("""
      pthread_t thread; pthread_attr_t small; pthread_attr_init(&small);
      pthread_attr_setstacksize(&small, 65536); long n = 0;
      auto wait = [](void*) -> void* { for (;;) pause(); };
      while (n < 1000000 && !pthread_create(&thread, &small, wait, nullptr)) ++n;
      fprintf(stderr, "%ld\\n", n);
    """)
    assert 0 < printed(report) <= limits.most_threads()


def test_it_bounds_the_scratch_folder(hog):
    report = hog("""
      static char block[1 << 20]; long n = 0; int failed = 0;
      for (int f = 0; f < 8 && !failed; ++f) {
        int fd = open(("fill" + std::to_string(f)).c_str(), O_CREAT | O_WRONLY, 0600);
        for (int i = 0; i < 512; ++i, ++n)
          if (write(fd, block, sizeof block) < 0) { failed = errno; break; }
      }
      fprintf(stderr, "%ld\\n", n);
    """)
    if report.outcome is Outcome.PASSED:
        assert printed(report) <= view.SCRATCH_BYTES // MEBIBYTE
    else:
        assert "memory limit" in report.reason


def test_it_bounds_the_number_of_files(hog):
    report = hog("""
      long n = 0;
      while (n < 1000000 && close(open(std::to_string(n).c_str(), O_CREAT, 0600)) == 0) ++n;
      fprintf(stderr, "%ld\\n", n);
    """)
    assert report.outcome is Outcome.PASSED, report.reason
    assert 0 < printed(report) <= view.FILES


def test_it_bounds_open_files(hog):
    report = hog("""
      long n = 0; while (n < 1000000 && open("/dev/null", O_RDONLY) >= 0) ++n;
      fprintf(stderr, "%ld\\n", n);
    """)
    assert 0 < printed(report) <= limits.OPEN_FILES["cpu"]


def test_it_bounds_what_is_printed(hog):
    report = hog("""
      static char line[65536]; memset(line, 'x', sizeof line);
      for (int i = 0; i < 1600; ++i) write(2, line, sizeof line);
      write(2, "the end", 7);
    """)
    assert report.outcome is Outcome.PASSED, report.reason
    assert len(report.runner_log) < 66_000
    assert report.runner_log.endswith("the end")
    assert "bytes left out" in report.runner_log


def test_it_bounds_locked_memory(hog):
    report = hog("""
      long size = 256l << 20; void* at = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      fprintf(stderr, "%d\\n", mlock(at, size) ? errno : 0);
    """)
    assert printed(report) != 0


def test_it_ends_what_ignores_signals(hog):
    report = hog(
        """
      for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
      std::thread([] { for (;;) pause(); }).detach();
      for (;;) pause();
    """,
        call_s=1.5,
    )
    assert report.outcome is Outcome.TIMED_OUT


def test_it_counts_refused_calls_without_end(hog):
    report = hog('for (int i = 0; i < 2000; ++i) open("/escaped", O_CREAT | O_WRONLY, 0600);')
    assert report.outcome is Outcome.PASSED, report.reason
    assert "openat /escaped to write ×2000" in report.environment["refused"]


def test_it_hides_no_refused_call_behind_many_others(hog):
    report = hog("""
      for (int i = 0; i < 200; ++i) open(("/x" + std::to_string(i)).c_str(), O_RDONLY);
      open("/forged ×1, kill", O_RDONLY);
      kill(-1, 0);
    """)
    assert report.outcome is Outcome.PASSED, report.reason
    refused = report.environment["refused"].split(", ")
    assert "kill ×1" in refused
    assert f"other paths ×{201 - seccomp.DISTINCT_PATHS}" in refused
    assert len(refused) <= seccomp.DISTINCT_PATHS + 2


def test_it_keeps_one_note_apart_from_the_next(hog):
    report = hog('open("/forged ×1, kill", O_RDONLY);')
    assert report.environment["refused"] == "openat /forged ?1? kill ×1"


def test_it_starts_nobody_who_handles_cores(hog):
    """A host may hand cores to a program of its own, which asks for no limit but one of a byte."""
    report = hog("""
      rlimit most; getrlimit(RLIMIT_CORE, &most);
      fprintf(stderr, "%ld\\n", (long)most.rlim_max);
    """)
    assert printed(report) <= 1


def test_it_keeps_as_many_threads_and_as_much_memory_as_an_honest_kernel_needs(hog):
    report = hog("""
      std::vector<std::thread> team;
      for (int i = 0; i < 64; ++i) team.emplace_back([] { std::vector<char>(1 << 20, 1); });
      for (auto& member : team) member.join();
      fprintf(stderr, "%zu\\n", std::vector<char>(200 << 20, 1).size());
    """)
    assert report.outcome is Outcome.PASSED, report.reason
    assert printed(report) == 200 << 20
    assert "refused" not in report.environment


def test_it_runs_openmp(hog, bounded, problem, tmp_path):
    text = """#include <omp.h>
    extern "C" void solve(const float* x, float* y, int N) {
      #pragma omp parallel for num_threads(4)
      for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
    }"""
    candidate = Source("candidate.cpp", text, ("-fopenmp",))
    report = bounded.evaluate(small.job(problem, tmp_path, candidate))
    assert report.outcome is Outcome.PASSED, report.reason
    assert "refused" not in report.environment


def test_it_bounds_a_compiler(bounded, problem, tmp_path):
    # Doubles with every level: time without end, or memory.
    before = """
    template <int D, long K> struct T { T<D - 1, 2 * K> a; T<D - 1, 2 * K + 1> b; };
    template <long K> struct T<0, K> { char c; };
    static T<60, 1> endless;
    """
    protocol = replace(small.QUICK, limits=replace(small.QUICK.limits, build_s=4))
    job = small.job(problem, tmp_path, source(before=before), protocol=protocol)
    report = bounded.evaluate(job)
    assert report.outcome in (Outcome.BUILD_FAILED, Outcome.TIMED_OUT)
    assert report.phase is Phase.BUILD
    assert report.wall_s["total"] < 30
    assert bounded.evaluate(small.job(problem, tmp_path, source())).outcome is Outcome.PASSED


@pytest.mark.skipif(os.getuid() != 0, reason="control groups are made by root")
def test_it_leaves_no_control_group(hog):
    hog("")
    left = [*Path("/sys/fs/cgroup").glob("kopt-*"), *Path("/sys/fs/cgroup").glob("*/kopt-*")]
    assert [path for path in left if not _has_processes(path)] == []


def _has_processes(path: Path) -> bool:
    return bool((path / "cgroup.procs").read_text().split())


def test_a_case_that_is_too_large_for_the_host_is_no_fault_of_the_problem(bounded, tmp_path):
    folder = small.write_problem(tmp_path)
    ref = folder / "ref.py"
    drawn = "def setup("
    text = ref.read_text().replace(drawn, f"WHOLE = torch.ones({MEMORY >> 1})\n\n\n{drawn}")
    ref.write_text(text)
    report = bounded.evaluate(small.job(folder, tmp_path, source()))
    assert report.outcome is Outcome.NOT_JUDGED
    assert not report.problem_fault
    assert "over its memory limit of 512 MiB" in report.reason
    assert report.reason.endswith(": the case is too large for this host")
