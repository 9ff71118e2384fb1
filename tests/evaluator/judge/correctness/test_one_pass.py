"""The judge's kernels do what its torch operations do, bit by bit where bits are made."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from campaigns.devices.launch import ROOT
from campaigns.evaluator.builds import judge_loops
from campaigns.evaluator.builds.judge_loops import faster_passes
from campaigns.evaluator.contract.job import KERNELS
from campaigns.evaluator.judge.correctness import one_pass
from campaigns.evaluator.judge.correctness.one_pass import WIDE, TorchPasses, agrees, passes_for
from tests.evaluator.one_pass_check import INTEGERS, WIDTHS

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def found():
    """What the kernels did, tried in a process of their own."""
    command = [sys.executable, "-m", "tests.evaluator.one_pass_check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_they_mix_the_same_bits(found, dtype, width):
    assert found[f"mix {dtype} {width}"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_they_find_right_what_torch_operations_find_right(found, dtype, width):
    looks = found[f"close {dtype} {width}"]
    assert {fault: ours for fault, (ours, _) in looks.items()} == {
        fault: theirs for fault, (_, theirs) in looks.items()
    }
    assert {fault for fault, (ours, _) in looks.items() if ours} == {"none", "a small error"}


def test_what_is_wanted_infinite_is_left_to_a_closer_look(found):
    assert found["infinite"] == [False, False, True]


def test_norms_of_huge_answers_do_not_overflow(found):
    assert found["huge"] == [True, False]


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool])
def test_what_is_no_float_is_compared_by_torch_operations(found, dtype):
    assert found[f"no float {dtype}"] == [True, False]


@pytest.mark.parametrize("dtype", [dtype for dtype in WIDE if dtype is not torch.bfloat16])
def test_they_agree_where_they_are_tried(found, dtype):
    assert found[f"agrees {dtype}"]


class Lazy(TorchPasses):
    """Mixes nothing, or finds everything right."""

    def __init__(self, *, lazy):
        super().__init__()
        self._lazy = lazy

    def mix(self, mixture, into):
        return into.zero_() if self._lazy == "mix" else super().mix(mixture, into)

    def close(self, found, expected, tolerance):
        if self._lazy == "close":
            return torch.ones(len(found), dtype=torch.bool)
        return super().close(found, expected, tolerance)


@pytest.mark.parametrize("lazy", ["mix", "close"])
def test_kernels_that_do_something_else_are_found_out(lazy):
    assert not agrees(Lazy(lazy=lazy), torch.float32, CPU)


@pytest.mark.parametrize("dtype", list(WIDE))
def test_torch_operations_agree_with_themselves(dtype):
    assert agrees(TorchPasses(), dtype, CPU)


def test_without_a_gpu_there_are_no_kernels_and_no_words(monkeypatch):
    monkeypatch.delenv(KERNELS, raising=False)
    told = []
    assert isinstance(passes_for(CPU, [torch.float32], told.append, faster_passes), TorchPasses)
    assert told == []


@pytest.mark.parametrize("trouble", ["none", "wrong"])
def test_a_gpu_without_kernels_is_told_of_and_served(monkeypatch, trouble):
    def broken():
        raise RuntimeError("Failed to find C compiler\nmore")

    monkeypatch.setattr(judge_loops, "TritonPasses", broken if trouble == "none" else TorchPasses)
    monkeypatch.setattr(one_pass, "agrees", lambda *given: False)
    told = []
    made = passes_for(
        torch.device("cuda"), [torch.float32, torch.int32], told.append, faster_passes
    )
    assert isinstance(made, TorchPasses)
    wanted = "RuntimeError: Failed to find C compiler" if trouble == "none" else "torch.float32"
    assert len(told) == 1
    assert wanted in told[0]
    assert "int32" not in told[0]
