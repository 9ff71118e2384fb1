"""What the judge's proofs cost: asked of a fresh interpreter, and told as copies of the memory."""

from __future__ import annotations

import pytest

from campaigns.benchmarks import proof_cost
from campaigns.benchmarks.proof_cost import ProofCostError, measure_proofs, to_markdown
from campaigns.devices.discover import Device
from campaigns.devices.launch import InterpreterFailed

# Its times say nothing there, but all that takes them runs.
CPU = Device("cpu", "cpu", "Some CPU", "cpu-1", "native", 1, "cpu-1")
PARTS = {"make", "compare", "copy", "make in steps", "compare in steps"}


def test_it_takes_the_time_of_every_part_as_often():
    found = measure_proofs(CPU, 16, 5)
    assert found.mib == 16
    assert set(found.seconds) == PARTS
    assert {len(times) for times in found.seconds.values()} == {5}
    assert all(time > 0 for times in found.seconds.values() for time in times)
    assert found.notes == ()


def answered(monkeypatch, words):
    monkeypatch.setattr(proof_cost, "ask_interpreter", lambda arguments, limit_s: words)


def test_it_tells_ratios_and_copies(monkeypatch):
    times = {"make": 2.0, "compare": 1.0, "copy": 0.5, "make in steps": 12.0}
    seconds = {name: [time] * 5 for name, time in (times | {"compare in steps": 7.0}).items()}
    answered(
        monkeypatch,
        f'{{"mib": 64, "notes": ["no kernels"], "seconds": {seconds}}}'.replace("'", '"'),
    )
    text = to_markdown(measure_proofs(CPU, 64, 5))
    assert "To make inputs in steps takes **6.0 times** as long as in one kernel" in text
    assert "To compare answers in steps takes **7.0 times**" in text
    assert "| make | 2000.000 | 4.0 |" in text
    assert "no kernels" in text


def test_it_says_what_went_wrong(monkeypatch):
    def fail(arguments, limit_s):
        raise InterpreterFailed("torch.OutOfMemoryError: CUDA out of memory")

    monkeypatch.setattr(proof_cost, "ask_interpreter", fail)
    with pytest.raises(ProofCostError, match="out of memory"):
        measure_proofs(CPU, 64, 5)
