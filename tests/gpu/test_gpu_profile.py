"""Counters of a candidate's own kernels, read by this card's profiler in the box of a runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.devices.discover import devices
from campaigns.devices.explain import count_kernels
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.profiles.metrics import METRICS
from campaigns.profiles.reading import read_profile
from knowledge.experience.terms import Bottleneck

SOFTMAX = Path(__file__).parents[2] / "campaigns" / "problems" / "softmax"


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_r23_the_kernels_of_a_softmax_are_counted(tmp_path, backend):
    device = next((one for one in devices() if one.kind == "gpu"), None)
    if device is None:
        pytest.skip("no GPU")
    job = v0_job(device, load_problem(SOFTMAX), backend, tmp_path / "scratch", Protocol())
    with EvaluatorService() as service:
        stored = count_kernels(job, None, service)
    assert stored is not None
    if "hides" in stored.note or "administrator" in stored.note:
        pytest.skip(stored.note)
    assert stored.note == ""
    found = read_profile(stored)
    assert [one.kernel.partition("(")[0] for one in found.kernels] == ["softmax_rows"]
    assert found.launches == (stored.calls,)
    assert found.limit.kind is not Bottleneck.UNKNOWN
    # Every counter that a rule reads exists on this card.
    missing = set(METRICS) - set(found.main.values)
    assert not missing, sorted(missing)
    # So does what says where it waits: most of its samples are at lines of its own.
    hottest = found.main.lines
    assert sum(one.share for one in hottest) > 0.9
    assert any(one.source.startswith("candidate.") and one.line for one in hottest)
