"""Real compilers and disassemblers, locked down: what a candidate's machine code is (R48)."""

from __future__ import annotations

import shutil

import pytest

from campaigns.evaluator.contract import MachineCode, Outcome, Source
from tests.evaluator import small

TRITON = """\
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N)
    tl.store(y_ptr + at, BODY, mask=at < N)


def run_kernel(x, y, N):
    double[(triton.cdiv(N, 1024),)](x, y, N, BLOCK=1024)
"""


@pytest.fixture
def read(service, problem, tmp_path):
    """The machine code of a source for the tiny problem; nothing of it is run."""

    def run_one(candidate: Source, **more: object) -> MachineCode:
        report = service.evaluate(
            small.job(problem, tmp_path, candidate, **({"read_code": "machine"} | more))
        )
        assert report.outcome is Outcome.PASSED, report.reason
        assert report.cases == ()
        assert not (tmp_path / "scratch").exists()
        assert report.machine_code is not None
        return report.machine_code

    return run_one


def triton(body: str) -> Source:
    return Source("kernel.py", TRITON.replace("BODY", body))


def test_r48_it_tells_vectors_from_single_values(read):
    source = small.source(small.LOOP)
    wide = Source(source.name, source.text, ("-O3", "-march=x86-64-v3"))
    plain = Source(source.name, source.text, ("-O1",))
    (vectors,) = (one for one in read(wide).functions if one.name == "solve")
    (single,) = (one for one in read(plain).functions if one.name == "solve")
    assert vectors.kinds["vector_256"] > 0
    assert single.kinds["scalar_float"] > 0
    assert not any(kind.startswith("vector") for kind in single.kinds)


def test_r48_it_names_what_is_called(read):
    text = (
        "#include <cmath>\n" + small.source("for (int i = 0; i < N; ++i) y[i] = expf(x[i]);").text
    )
    (solve,) = (one for one in read(Source("k.cpp", text)).functions if one.name == "solve")
    assert solve.calls == {"expf": 1}


def test_r48_it_reads_what_triton_compiles_for_a_gpu_without_one(read):
    code = read(triton("tl.exp(x)"), backend="triton", target="sm_90a")
    (function,) = code.functions
    assert (function.name, code.tool) == ("double", "nvdisasm, sm_90a")
    assert function.resources.threads == 128
    assert function.resources.registers > 0
    assert {line for line, text in function.lines if text.startswith("MUFU")} == {9}
    assert function.kinds["special"] > 0
    assert function.kinds["global_load"] > 0
    assert function.widest_load_bytes == 16


def test_it_lists_ptx_by_the_lines_of_the_source(read):
    source = triton("tl.exp(x + tl.sum(x, 0))")
    code = read(source, backend="triton", target="sm_90a", read_code="ptx")
    (function,) = code.functions
    assert (function.name, code.tool) == ("double", "PTX, sm_90a")
    by_line = {line for line, text in function.lines if "ex2.approx" in text}
    assert by_line == {9}
    # What a function of Triton's own does there belongs to the line that calls it.
    assert {line for line, text in function.lines if text.startswith("shfl")} == {9}
    assert not any(text.startswith(".") for _, text in function.lines)


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc on PATH")
def test_it_lists_the_ptx_of_cuda(read):
    text = """
__device__ __noinline__ float twice(float v) { return 2.0f * v; }
__global__ void first(const float* x, float* y) { y[threadIdx.x] = twice(x[threadIdx.x]); }
extern "C" void solve(const float* x, float* y, int N) { first<<<1, 1>>>(x, y); }
"""
    code = read(Source("k.cu", text), backend="cuda", target="sm_90a", read_code="ptx")
    listed = {one.name: one.lines for one in code.functions}
    assert {*listed} == {"twice(float)", "first(float const*, float*)"}
    stores = [line for line, text in listed["first(float const*, float*)"] if "st.global" in text]
    assert stores == [3]


@pytest.mark.parametrize(("backend", "target"), [("triton", "gfx942"), ("cpp", "native")])
def test_ptx_is_of_nvidias_targets_alone(read, backend, target):
    source = triton("x") if backend == "triton" else small.source("y[0] = 0;")
    code = read(source, backend=backend, target=target, read_code="ptx")
    assert code.note == f"{backend} has no PTX for {target}"


def test_a_kernel_that_is_not_launched_has_no_code(read):
    silent = Source("kernel.py", "def run_kernel(x, y, N): pass")
    code = read(silent, backend="triton", target="sm_90a")
    assert code.functions == ()
    assert code.note == "the disassembler listed no functions"


@pytest.mark.parametrize(
    ("candidate", "note"),
    [
        pytest.param(small.source("this is no C++"), "it could not be built", id="no C++"),
        pytest.param(
            small.source('asm("ud3 %rax");'), "it could not be built", id="no instruction"
        ),
    ],
)
def test_what_does_not_build_says_so(read, candidate, note):
    code = read(candidate)
    assert code.functions == ()
    assert code.note.startswith(note)


def test_a_script_that_ends_itself_says_how(read):
    ends = Source("kernel.py", "import os\nprint('enough', flush=True)\nos._exit(3)")
    code = read(ends, backend="triton", target="sm_90a")
    assert code.functions == ()
    assert "enough" in code.note


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_r28_it_reads_what_triton_compiles_for_amd(read, target):
    code = read(triton("tl.exp(x)"), backend="triton", target=target)
    (function,) = code.functions
    assert (function.name, code.tool) == ("double", f"LLVM, {target}")
    assert function.kinds["special"] > 0
    assert function.widest_load_bytes == 16
    assert function.resources.threads == 256
    assert function.resources.registers > 0
    assert {line for line, text in function.lines if text.startswith("v_exp")} == {9}


def test_it_tells_the_line_of_each_instruction(read):
    (solve,) = (one for one in read(small.source(small.LOOP)).functions if one.name == "solve")
    text = small.source(small.LOOP).text.splitlines()
    told = {line for line, _ in solve.lines}
    assert told <= set(range(len(text) + 1))
    assert any("for (" in text[line - 1] for line in told if line)


def test_nothing_of_it_runs(read, tmp_path):
    """Not even a constructor, which a loader would call."""
    source = small.source(small.LOOP)
    trap = "#include <cstdlib>\nstruct Trap { Trap() { abort(); } } trap;\n" + source.text
    assert any(one.name == "solve" for one in read(Source("k.cpp", trap)).functions)


def test_names_are_text_for_people(read):
    """A symbol may be any bytes; what breaks lines or hides text does not come through."""
    label = '__asm__("evil\\\\033[2J<b>")'
    text = (
        small.source(small.LOOP).text
        + f'extern "C" int other() {label};\nint other() {{ return 1; }}\n'
    )
    for one in read(Source("k.cpp", text)).functions:
        assert one.name.isprintable()


def test_a_flood_of_code_is_cut_short(read):
    """As many functions as a listing may have lines of; what is told stays short."""
    many = "".join(f"int f{n}(int a) {{ return a * {n} + {n}; }}\n" for n in range(4000))
    code = read(Source("k.cpp", many + small.source(small.LOOP).text))
    assert 0 < len(code.functions) <= 64
