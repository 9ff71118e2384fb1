"""Each shipped problem: its Triton and CUDA v0, and the work that it says."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys

import pytest

from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference
from campaigns.problems.shipped import shipped_problems
from tests.architecture.source_tree import ROOT

PROBLEMS = {spec.name: spec for spec in shipped_problems()}
NVCC = shutil.which("nvcc")


def margins_by(module, *folder):
    """The margins that a stand-in for a GPU tells, by the name of a file."""
    command = [sys.executable, "-m", f"tests.campaigns.problems.{module}", *folder]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(told.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def triton_margins():
    return margins_by("interpreted")


@pytest.fixture(scope="module")
def cuda_margins():
    return margins_by("cuda_on_cpu")


@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if "triton" in one.files])
def test_the_triton_v0_is_right_in_the_interpreter(name, triton_margins):
    assert 0 <= triton_margins[name] <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if "cuda" in one.files])
def test_the_cuda_v0_is_right_on_the_cpu(name, cuda_margins):
    assert 0 <= cuda_margins[name] <= 1


@pytest.mark.long
def test_a_barrier_that_is_missing_changes_the_answer_on_the_cpu(tmp_path):
    text = (PROBLEMS["sum"].folder / "v0.cu").read_text()
    barrier = "        __syncthreads();\n"
    assert barrier in text
    (tmp_path / "sum.whole.cu").write_text(text)
    (tmp_path / "sum.without.cu").write_text(text.replace(barrier, ""))
    margins = margins_by("cuda_on_cpu", tmp_path)
    assert margins["sum.whole"] <= 1 < margins["sum.without"]


@pytest.mark.long
@pytest.mark.skipif(NVCC is None, reason="nvcc is not here")
@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if "cuda" in one.files])
def test_the_cuda_v0_compiles(name, tmp_path):
    source = PROBLEMS[name].folder / PROBLEMS[name].files["cuda"]
    command = [NVCC, "-arch=sm_90", "-std=c++17", "-c", source, "-o", tmp_path / "v0.o"]
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_work_is_no_more_than_its_tensors_say(name):
    spec = PROBLEMS[name]
    code = ProblemCode(spec.folder)
    case = min(spec.cases, key=lambda one: one.size).case
    layout = Reference(code).layout(case, "cpu")
    operations, moved = code.work(case.name, case.params)
    written = sum(arg.nbytes for arg in layout.outputs)
    assert 0 <= operations < math.inf
    # An output in place is read too.
    assert 0 < moved <= sum(arg.nbytes for arg in layout.tensors) + written
