"""What `doctor` says of sanitizers: tried, and told with what their absence costs."""

from __future__ import annotations

import pytest

from campaigns.devices import host_software
from campaigns.devices.host_software import State
from campaigns.evaluator.contract import programs as run
from campaigns.evaluator.contract.errors import Unsupported


def test_it_tries_those_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    address, thread, device = host_software.examine_sanitizers(has_gpu=False)
    assert [found.name for found in (address, thread)] == [run.ADDRESS, run.THREAD]
    assert {found.state for found in (address, thread)} <= {State.OK, State.MISSING}
    assert device.state in (State.OK, State.NOTE)
    flags = {run.ADDRESS: ("-fsanitize=nothing",), run.THREAD: ()}
    monkeypatch.setattr(run, "CPP_FLAGS", flags)
    address, thread, _ = host_software.examine_sanitizers(has_gpu=False)
    assert address.state is State.MISSING
    assert address.found.startswith("cannot be built: ")
    assert "without a check for memory errors" in address.costs
    assert thread.state is State.OK


def test_it_says_what_a_host_without_a_compiler_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise Unsupported("no C++ compiler on PATH")

    monkeypatch.setattr(run, "cpp_compiler", none)
    address, *_ = host_software.examine_sanitizers(has_gpu=False)
    assert (address.state, address.found) == (State.MISSING, "no C++ compiler on PATH")


def test_it_misses_the_one_for_kernels_only_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "compute_sanitizer", lambda: None)
    monkeypatch.setattr(host_software, "_fails", lambda tool: "")
    states = [host_software.examine_sanitizers(has_gpu=gpu)[-1].state for gpu in (False, True)]
    assert states == [State.NOTE, State.MISSING]
