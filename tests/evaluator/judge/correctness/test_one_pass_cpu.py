"""The judge's loops in C++ do what its torch operations do, and nothing planted is loaded."""

from __future__ import annotations

import math
import os
import shutil

import pytest
import torch

from campaigns.evaluator.builds import judge_loops
from campaigns.evaluator.builds.judge_loops import NativePasses, built, faster_passes
from campaigns.evaluator.contract.job import KERNELS
from campaigns.evaluator.judge.correctness.one_pass import (
    WIDE,
    TorchPasses,
    agrees,
    passes_for,
)
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, quick
from tests.evaluator.one_pass_check import INTEGERS, closes, huge, infinite, mixes, no_float

CPU = torch.device("cpu")
WIDTHS = (1, 7, 8, 63, 1500, 2047, 2048, 2049, 4099)
COMPILED = pytest.mark.skipif(
    not any(map(shutil.which, judge_loops.COMPILERS)), reason="no C++ compiler"
)


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return NativePasses(built(tmp_path_factory.mktemp("judge-kernels")))


@COMPILED
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_they_mix_the_same_bits(native, dtype, width):
    assert mixes(native, dtype, width)


@COMPILED
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_they_find_right_what_torch_operations_find_right(native, dtype, width):
    for fault, (ours, theirs) in closes(native, dtype, width).items():
        assert ours == theirs, fault


@COMPILED
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_wrong_element_is_found_wherever_it_is(native, dtype, width):
    tolerance = Tolerance(1e-3, 1e-2)
    want = torch.linspace(-1, 1, width, dtype=dtype).expand(5, width).contiguous()
    for place in {0, width // 2, width - 1}:
        found = want.clone()
        for row, value in enumerate((math.nan, math.inf, -math.inf, 9.0)):
            found[row, place] = value
        close = native.close(found, want, tolerance)
        assert close.tolist() == [False, False, False, False, True]
        assert close.tolist() == quick(found, want, tolerance).tolist()
        # Nor is a NaN right where one is wanted: a closer look says so.
        assert native.close(found, found, tolerance).tolist() == [False] * 3 + [True] * 2


@COMPILED
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_they_round_bounds_as_torch_does(native, dtype):
    generator = torch.Generator().manual_seed(5)
    want = torch.randn(20_000, 1, generator=generator, dtype=dtype)
    tolerance = Tolerance(1e-3, 1e-2)
    bound = want.abs().mul(tolerance.rtol).add(tolerance.atol)
    found = want + bound
    ours = native.close(found, want, tolerance)
    assert torch.equal(ours, quick(found, want, tolerance))
    assert 0 < ours.sum() < len(ours)


@COMPILED
def test_infinite_huge_and_whole_answers(native):
    assert infinite(native) == [False, False, True]
    assert huge(native) == [True, False]
    for dtype in (torch.int32, torch.bool):
        assert no_float(native, dtype) == [True, False]


@COMPILED
@pytest.mark.parametrize("dtype", list(WIDE))
def test_they_agree_where_they_are_tried(native, dtype):
    assert agrees(native, dtype, CPU)


@COMPILED
def test_they_are_compiled_once_and_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv(KERNELS, str(tmp_path))
    told: list[str] = []
    assert isinstance(passes_for(CPU, [torch.float32], told.append, faster_passes), NativePasses)
    (made,) = tmp_path.glob("one_pass_cpu-*.so")
    before = made.stat()
    assert isinstance(passes_for(CPU, [torch.float32], told.append, faster_passes), NativePasses)
    assert made.stat().st_mtime_ns == before.st_mtime_ns
    assert told == []


def test_without_a_compiler_there_are_words_and_torch_operations(tmp_path, monkeypatch):
    monkeypatch.setenv(KERNELS, str(tmp_path))
    monkeypatch.setattr(judge_loops, "COMPILERS", ())
    told: list[str] = []
    assert isinstance(passes_for(CPU, [torch.float32], told.append, faster_passes), TorchPasses)
    assert len(told) == 1
    assert "C++ loops failed" in told[0]


@COMPILED
@pytest.mark.parametrize("plant", ["writable", "a link", "two names"])
def test_what_others_could_have_written_is_not_loaded(tmp_path, plant):
    library = built(tmp_path)
    library.unlink()
    planted = tmp_path / "planted"
    planted.write_bytes(b"planted")
    if plant == "a link":
        library.symlink_to(planted)
    elif plant == "two names":
        os.link(planted, library)
    else:
        library.write_bytes(b"planted")
        library.chmod(0o666)
    with pytest.raises(OSError, match=r"others|symbolic"):
        NativePasses(library)
    assert built(tmp_path) == library
    assert NativePasses(library)
    assert planted.read_bytes() == b"planted"


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(PermissionError, match="others can write"):
        built(tmp_path)
