"""The judge's kernels on a GPU: built before a candidate is loaded, and the same as in steps."""

from __future__ import annotations

import pytest
import torch

from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.builds.judge_loops import TritonPasses, faster_passes
from campaigns.evaluator.contract import Outcome, Protocol
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.correctness.one_pass import (
    TRIED,
    WIDE,
    InputMix,
    RowWindows,
    agrees,
    passes_for,
)
from campaigns.problems.shipped import problem_folder


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", list(WIDE))
def test_they_do_what_torch_operations_do(dtype):
    assert agrees(TritonPasses(), dtype, torch.device("cuda:0"))


@pytest.mark.gpu
def test_what_was_tried_is_compiled_for_good():
    """Where windows begin, and how far they are apart, is drawn: it must not compile anything."""
    told: list[str] = []
    made = passes_for(torch.device("cuda:0"), [torch.float32], told.append, faster_passes)
    assert isinstance(made, TritonPasses)
    assert told == []
    kernels = made._kernels
    before = len(_compiled(kernels.mix_rows))
    assert before > 0
    numbers = torch.arange(1 << 16, dtype=torch.int32, device="cuda:0")
    for start, step, rows in ((0, 1, 1), (16, 16, 16), (17, 3, 5), (1, 4096, 8)):
        place = RowWindows(numbers, start, step)
        into = torch.empty((rows, TRIED[1]), dtype=torch.int32, device="cuda:0")
        made.mix(InputMix(place, numbers, place, place, 0xFF), into)
    assert len(_compiled(kernels.mix_rows)) == before


def _compiled(kernel):
    caches = kernel.device_caches.values()
    return [one for cache, *_ in caches for one in cache.values() if one]


@pytest.mark.gpu
def test_an_evaluation_has_them(tmp_path):
    device = this_device("cuda:0")
    spec = load_problem(problem_folder("vector_add"))
    with EvaluatorService() as service:
        report = service.evaluate(
            v0_job(device, spec, "triton", tmp_path / "s", Protocol(blocks=2))
        )
    assert report.outcome is Outcome.PASSED, report.reason
    assert not [note for note in report.notes if "torch operations" in note]
