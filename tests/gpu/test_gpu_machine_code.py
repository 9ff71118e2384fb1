"""What nvcc and Triton make of a kernel for this card, read on this card's host (R48)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.discover import devices
from campaigns.devices.explain import read_code
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.contract.problem_reader import load_problem

SOFTMAX = Path(__file__).parents[2] / "campaigns" / "problems" / "softmax"


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_r48_the_machine_code_of_a_softmax_is_read(tmp_path, backend):
    device = next((one for one in devices() if one.kind == "gpu"), None)
    if device is None:
        pytest.skip("no GPU")
    job = v0_job(device, load_problem(SOFTMAX), backend, tmp_path / "scratch", Protocol())
    with EvaluatorService() as service:
        code = read_code(replace(job, incumbent=None), service)
    assert code.functions, code.note
    longest = code.functions[0]
    assert longest.kinds["special"] > 0
    assert longest.kinds["global_load"] > 0
    assert longest.widest_load_bytes >= 4
    assert not longest.name.startswith("_Z")
