"""Real candidates under real sanitizers: honest ones are clean, faulty ones are found where."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from campaigns.benchmarks.trick import job_of
from campaigns.evaluator.contract import Outcome, Sanitized, Source
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.sanitizers import harness, run
from tests.evaluator import small
from tests.evaluator.tricks.candidate_file import every

# Nothing is timed, so two at once disturb nothing.
AT_ONCE = 2
THREADED = ("atomics", "order_by_arrival", "spinning_pool", "thread_pool", "threads_per_call")
# Which tool finds which fault in which line, of those that show on the inputs as declared.
FOUND = {
    "faults": (run.ADDRESS, "SEGV", 5),
    "late_thread": (run.THREAD, "heap-use-after-free", 10),
    "lost_updates": (run.THREAD, "data race", 16),
    "reads_behind_the_input": (run.ADDRESS, "heap-buffer-overflow", 8),
    "writes_before_the_output": (run.ADDRESS, "heap-buffer-overflow", 7),
    "writes_behind_an_input": (run.ADDRESS, "heap-buffer-overflow", 7),
    "writes_behind_the_output": (run.ADDRESS, "heap-buffer-overflow", 7),
}
TIDY = (Sanitized(run.ADDRESS, True), Sanitized(run.THREAD, True))
IDLE = "it starts no threads, so nothing can race"


@pytest.fixture
def look(service, tmp_path):
    """What the sanitizers say of one trick."""

    def run_one(trick):
        job = job_of(trick, tmp_path / trick.path.stem, "cpu", "native")
        report = service.evaluate(replace(job, sanitize=True))
        assert report.outcome is Outcome.PASSED, f"{trick.path.stem}: {report.reason}"
        assert not any(case.candidate for case in report.cases)
        return report.sanitized

    return run_one


@pytest.fixture
def ask(service, problem, tmp_path):
    """What the sanitizers say of a source for the tiny problem."""

    def run_one(candidate):
        report = service.evaluate(small.job(problem, tmp_path, candidate, sanitize=True))
        return {one.tool: one for one in report.sanitized}

    return run_one


def all_of(look, tricks):
    first, *others = tricks
    # The first one starts the service.
    said = [look(first)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        said += pool.map(look, others)
    return dict(zip((trick.path.stem for trick in tricks), said, strict=True))


def test_it_finds_nothing_in_honest_candidates(look):
    """Those with threads, and every fourth of the others: building each takes seconds."""
    honest = list(every("honest", "cpp"))
    named = {*THREADED, "openmp", "plain"}
    chosen = [t for n, t in enumerate(honest) if n % 4 == 0 or t.path.stem in named]
    said = all_of(look, chosen)
    assert named <= set(said)
    unclear = {(name, one.tool) for name, tools in said.items() for one in tools if not one.ran}
    assert unclear == {("openmp", run.THREAD)}
    assert {name: tools for name, tools in said.items() if any(t.faults for t in tools)} == {}
    assert "OpenMP" in said["openmp"][1].note
    for threaded in THREADED:
        assert said[threaded] == TIDY
    assert said["plain"][1].note == IDLE


def test_it_finds_faulty_candidates_and_names_the_line(look):
    said = all_of(look, [trick for trick in every("cheats", "cpp") if trick.path.stem in FOUND])
    first = {
        name: (tool.tool, tool.faults[0].kind, tool.faults[0].line)
        for name, tools in said.items()
        for tool in tools
        if tool.faults
    }
    # Which of the two is seen of a thread that outlives its memory depends on the host's schedule.
    tool, kind, line = first.pop("late_thread")
    assert (tool, line) == (FOUND["late_thread"][0], FOUND["late_thread"][2])
    assert kind in (FOUND["late_thread"][1], "data race")
    assert first == {name: found for name, found in FOUND.items() if name != "late_thread"}
    assert said["lost_updates"][0] == Sanitized(run.ADDRESS, True)
    assert said["reads_behind_the_input"][0].faults[0].file == "reads_behind_the_input.cpp"


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        (small.source("y[0] = *missing;"), "could not be built"),
        (small.source("_Exit(0);", "#include <stdlib.h>\n"), "did not come to its end"),
        (small.source(before='__attribute__((no_sanitize("address")))\n'), "turns sanitizers off"),
    ],
)
def test_it_says_why_it_could_not_look(ask, candidate, why):
    for one in ask(candidate).values():
        assert one.note == IDLE or (not one.ran and why in one.note)
    assert not ask(candidate)[run.ADDRESS].ran


def test_it_takes_no_offence_at_what_works_on_every_machine(ask):
    harmless = """
      const char* bytes = (const char*)x;
      unsigned seen = *(const unsigned*)(bytes + 1);
      int big = 0x7fffffff - (int)(seen & 1);
      big += N; y[0] = (float)(big << 3);
      int* kept = new int[N]; kept[0] = big;
      for (int i = 0; i < N; ++i) y[i] = 2 * x[i] + 0 * kept[0];
    """
    assert [one.ran and not one.faults for one in ask(small.source(harmless)).values()] == [
        True,
        True,
    ]


def test_it_finds_undefined_indices(ask):
    body = (
        "static float table[8]; for (int i = 0; i < N; ++i) y[i] = 2 * x[i] + table[(i & 7) + 1];"
    )
    (fault,) = ask(small.source(body))[run.ADDRESS].faults[:1]
    assert (fault.kind, fault.line) == ("global-buffer-overflow", 2) or (
        fault.kind == "undefined behaviour" and "index 8 out of bounds" in fault.what
    )


@pytest.mark.parametrize(
    ("text", "flags", "words"),
    [
        ("#include <omp.h>", (), "OpenMP"),
        ("", ("-fopenmp",), "OpenMP"),
        ("std::atomic_thread_fence(std::memory_order_acquire);", (), "fences"),
        ("_mm_sfence();", (), "fences"),
        ("std::sort(std::execution::par, a, b);", (), "parallel algorithms"),
        ("std::atomic<int> n; std::thread t;", ("-O3",), ""),
    ],
)
def test_it_gives_no_verdict_on_threads_where_it_would_be_wrong(text, flags, words):
    said = run.no_thread_verdict(Source("kernel.cpp", text, flags))
    assert words in said if words else said == ""


def test_it_gives_no_verdict_on_hazards_of_bulk_copies():
    assert run.no_race_verdict(Source("k.cu", 'asm("cp.async.bulk.shared::cluster.global");'))
    assert run.no_race_verdict(Source("k.cu", "__shared__ float a; __syncthreads();")) == ""


LAYOUT = lay_out(
    [
        Plain("x", "float32", (3, 5), False),
        Plain("y", "bool", (7,), True),
        ScalarArg("N", 7),
        ScalarArg("least", -(2**63)),
        ScalarArg("eps", 1e-5),
        ScalarArg("far", float("-inf")),
    ]
)
TYPES = [
    *(ctypes.c_void_p, ctypes.c_void_p),
    *(ctypes.c_int, ctypes.c_int64, ctypes.c_float, ctypes.c_double),
]


def test_its_program_passes_every_argument_on_in_buffers_of_exact_size(tmp_path):
    (tmp_path / "harness.cpp").write_text(harness.program(LAYOUT, TYPES, on_gpu=False))
    (tmp_path / "candidate.cpp").write_text(
        "#include <malloc.h>\n#include <math.h>\n#include <stdint.h>\n"
        'extern "C" void solve(const float* x, bool* y, int N, int64_t least, float eps,'
        " double far) {\n"
        "  y[0] = x[14] == 2.5f; y[1] = N == 7; y[2] = least == INT64_MIN; y[3] = eps == 1e-5f;\n"
        "  y[4] = isinf(far) && far < 0; y[5] = (uintptr_t)x % 256 == 0;\n"
        "  y[6] = malloc_usable_size((void*)x) == 60 && malloc_usable_size(y) == 7;\n}\n"
    )
    floats = (ctypes.c_float * 15)(*[0.0] * 14, 2.5)
    (tmp_path / harness.INPUTS).write_bytes(bytes(floats) + b"\xff" * 7)
    built = ["g++", "-fsanitize=address", "candidate.cpp", "harness.cpp", "-o", "program"]
    subprocess.run(built, cwd=tmp_path, check=True)
    subprocess.run(["./program"], cwd=tmp_path, check=True, env=run.OPTIONS[run.ADDRESS])
    assert (tmp_path / harness.OUTPUTS).read_bytes() == b"\x01" * 7


def test_its_device_program_compiles(tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on PATH; install the CUDA toolkit to compile this")
    (tmp_path / "harness.cpp").write_text(harness.program(LAYOUT, TYPES, on_gpu=True))
    command = ["nvcc", "-std=c++17", "-c", "harness.cpp", "-o", "harness.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_looks_at_the_smallest_case(service, problem, tmp_path):
    from campaigns.evaluator.contract import Case

    large = Case("large", {"N": 65536})
    job = small.job(problem, tmp_path, small.source("if (N > 4096) y[N] = 1;" + small.LOOP))
    report = service.evaluate(replace(job, cases=(large, *job.cases), sanitize=True))
    assert [one.ran and not one.faults for one in report.sanitized] == [True, True]
    alone = service.evaluate(replace(job, cases=(large,), sanitize=True))
    assert alone.sanitized[0].faults[0].kind == "heap-buffer-overflow"
    assert report.cases == ()


def test_it_says_that_the_interpreter_has_no_memory_to_look_at(service, problem, tmp_path):
    triton = Source("kernel.py", "def run_kernel(x, y, N): ...")
    job = small.job(problem, tmp_path, triton, backend="triton", target="sm_90a", sanitize=True)
    (said,) = service.evaluate(job).sanitized
    assert (said.ran, said.note.partition(":")[0]) == (False, "not applicable")
