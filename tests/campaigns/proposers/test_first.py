"""The first kernel: Inductor's recorded text printed as plain C++ and Triton, which is right."""

import ctypes
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from campaigns.proposers.base import Situation
from campaigns.proposers.first.cpp import cpp_source
from campaigns.proposers.first.module import NotPrinted
from campaigns.proposers.first.triton import triton_source
from campaigns.proposers.recipes.base import recipes
from campaigns.proposers.search.catalogue import category_of, open_ideas
from campaigns.proposers.search.ideas import FIRST
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of
from campaigns.steps.rounds.first_kernel import UNREAD
from campaigns.syntax.language import has_kernel, judging
from tests.campaigns.proposers.first_triton import INPUTS, ROOT

RECORDED = Path(__file__).parent / "inductor"
SOFTMAX = [("input", "float32"), ("output", "float32"), ("N", "int"), ("D", "int")]
RMS = [("x", "float32"), ("weight", "float32"), ("out", "float32"), ("rows", "int")]
BF16 = [("x", "bfloat16"), ("w", "bfloat16"), ("out", "bfloat16"), ("N", "int"), ("D", "int")]


def printed(name, inputs):
    return cpp_source((RECORDED / f"{name}_cpp.txt").read_text(), inputs, "Made by a test.")


def built(source, folder):
    path = folder / source.name
    path.write_text(source.text)
    out = folder / "kernel.so"
    command = ["g++", "-std=c++17", "-shared", "-fPIC", *source.flags, path, "-o", out]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(out)).solve


def called(solve, *args):
    solve(
        *(
            ctypes.c_void_p(one.data_ptr())
            if isinstance(one, torch.Tensor)
            else ctypes.c_int64(one)
            for one in args
        )
    )


@pytest.mark.parametrize(("rows", "columns"), [(8, 1024), (5, 37)])
def test_it_is_right_for_other_sizes_too(tmp_path, rows, columns):
    solve = built(printed("softmax", SOFTMAX), tmp_path)
    given, found = torch.randn(rows, columns), torch.zeros(rows, columns)
    called(solve, given, found, rows, columns)
    assert torch.allclose(found, torch.softmax(given, -1), atol=1e-6)


def test_a_size_that_stays_is_built_in(tmp_path):
    solve = built(printed("rms", RMS), tmp_path)
    given, weight, found = torch.randn(7, 1024), torch.randn(1024), torch.zeros(7, 1024)
    called(solve, given, weight, found, 7)
    right = given * torch.rsqrt(given.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
    assert torch.allclose(found, right, atol=1e-5)


def test_bfloat16_is_converted_by_a_helper_of_a_few_lines(tmp_path):
    solve = built(printed("bf16", BF16), tmp_path)
    given, weight = torch.randn(6, 96).bfloat16(), torch.randn(96).bfloat16()
    found = torch.zeros(6, 96).bfloat16()
    called(solve, given, weight, found, 6, 96)
    wide = given.float()
    right = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()
    assert torch.allclose(found.float(), right.bfloat16().float(), rtol=1.6e-2, atol=1e-2)


@pytest.mark.parametrize(("name", "inputs"), [("softmax", SOFTMAX), ("bf16", BF16), ("rms", RMS)])
def test_nothing_of_torch_is_left_in_it(name, inputs):
    text = printed(name, inputs).text
    assert text.startswith("// Made by a test.")
    for word in ("torch", "at::", "c10", "inductor", "static_cast<int64_t>", "in_ptr"):
        assert word not in text


@pytest.fixture(scope="module")
def sources():
    return {
        name: triton_source((RECORDED / f"{name}_triton.txt").read_text(), inputs, "Made.")
        for name, inputs in INPUTS.items()
    }


def test_triton_is_right_in_the_interpreter(sources, tmp_path):
    """One with a library's product is right, too, once that is fused into the next kernel."""
    fuse, fused = recipes()["triton.fuse_product"], {}
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source.text)
        fused |= {name: fuse.variants(Situation("m", "m", "triton", source, 1, "gpu"))}
    assert [name for name, variants in fused.items() if variants] == ["linear"]
    for number, variant in enumerate(fused["linear"]):
        assert "torch.mm" not in variant.source.text
        assert not fuse.variants(Situation("m", "m", "triton", variant.source, 1, "gpu"))
        (tmp_path / f"linear-{number}.py").write_text(variant.source.text)
    command = [sys.executable, "-m", "tests.campaigns.proposers.first_triton", tmp_path]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    errors = json.loads(found.stdout)
    assert errors.keys() == {*INPUTS, "linear-0", "linear-1", "linear-2"}
    assert max(errors.values()) < 1e-5


@pytest.mark.parametrize("behind", [" + len((1,))", "; print((", "; (0,)[0]"])
def test_a_launch_that_is_no_single_call_is_not_fused(sources, behind):
    source = sources["linear"]
    text = source.text.replace("num_warps=4)", f"num_warps=4){behind}")
    assert text != source.text
    changed = Situation("m", "m", "triton", replace(source, text=text), 1, "gpu")
    assert not recipes()["triton.fuse_product"].variants(changed)


def test_its_tiles_can_be_searched(sources):
    knobs = space_of(sources["softmax"], "triton", DeviceLimits()).knobs
    assert {knob.name for knob in knobs} >= {"XBLOCK", "R0_BLOCK", "num_warps"}
    assert "import torch._inductor" not in "".join(one.text for one in sources.values())


def test_a_library_call_stays_one_in_python_and_is_refused_in_cpp():
    made = "    c = empty_strided_cuda((8, 8), (8, 1), torch.float32)\n"
    call = f"def call(args):\n    a, b = args\n{made}"
    text = f"{call}    extern_kernels.mm(a, reinterpret_tensor(b, (8, 8), (1, 8), 0), out=c)\n"
    names = [("left", "float32"), ("right", "float32")]
    shown = triton_source(text, names, "Made.").text
    assert "torch.mm(left, torch.as_strided(right, (8, 8), (1, 8), 0), out=c)" in shown
    with pytest.raises(NotPrinted, match="a library's mm"):
        cpp_source(text, names, "Made.")


@pytest.mark.parametrize("source", [cpp_source, triton_source])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "def call(args):\n    a, b, c = args\n",
        "def call(args):\n    launch_missiles()\n",
        "x" * 5000,
        "(" * 3000,
        "def call(args):\n    k(1)\nk = async_compile.cpp_pybinding(['a'], r'''\n{{{{{{'''\n",
        "\0",
    ],
)
def test_text_that_is_none_of_inductors_is_refused(source, text):
    with pytest.raises(UNREAD):
        source(text, [("x", "float32")], "Made.")


def situation(**more):
    source = printed("softmax", SOFTMAX)
    return Situation("p", "op", "cpp", source, 1, "cpu", has_kernel=False, **more)


def test_the_search_begins_with_it_and_has_nothing_else():
    from campaigns.proposers.base import Attempt, Variant

    first = Variant("Inductor 1", printed("softmax", SOFTMAX), {"compiler": "Inductor 1"})
    (idea,) = open_ideas(situation(first=first))
    assert (idea.strategy, idea.candidates, idea.category) == (FIRST, (first,), category_of(FIRST))
    tried = (Attempt(FIRST, first.params, "rejected", 0.5, 2),)
    assert open_ideas(situation(first=first, history=tried)) == []
    assert open_ideas(situation()) == []


def test_a_reference_is_judged_as_torch():
    from campaigns.evaluator.contract import Source

    eager = Source("v0.py", "import torch\n\n\ndef run_kernel(x):\n    return x\n")
    assert judging(eager, "cpp") == "torch"
    assert judging(printed("softmax", SOFTMAX), "cpp") == "cpp"
    assert judging(eager, "triton") == "triton"
    assert not has_kernel(eager, "cpp")
    assert not has_kernel(eager, "triton")
    assert has_kernel(printed("softmax", SOFTMAX), "cpp")
