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


@pytest.fixture(scope="module")
def margins():
    command = [sys.executable, "-m", "tests.campaigns.problems.interpreted"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(told.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if "triton" in one.files])
def test_the_triton_v0_is_right_in_the_interpreter(name, margins):
    assert 0 <= margins[name] <= 1


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
