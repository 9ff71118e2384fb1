"""Whose fault an error is where there is no GPU."""

from __future__ import annotations

import pytest

from campaigns.evaluator.builds.python_error import FILE
from campaigns.evaluator.interpreter.stand_in import LACKS_GPU, OnlyOnGpu, host_fault


def fault(tmp_path, line, **known):
    path = tmp_path / FILE
    path.write_text(f"def run():\n    {line}\n")
    space = {"__name__": "candidate", **known}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever a candidate raises
        space["run"]()
    return host_fault(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "kernel.n_regs",
        "assert x.device.type == 'cuda'",
        "raise RuntimeError('expected a CUDA tensor')",
        "raise AssertionError('Torch not compiled with CUDA enabled')",
    ],
)
def test_what_asks_for_a_gpu_is_the_hosts(tmp_path, line):
    tensor = type("Tensor", (), {"device": type("Device", (), {"type": "cpu"})})
    assert fault(tmp_path, line, kernel=OnlyOnGpu("a kernel"), x=tensor) == LACKS_GPU


@pytest.mark.parametrize(
    "line",
    [
        "1 // 0",
        "[][3]",
        "raise ValueError('odd')",
        "raise OSError('no such device')",
        "assert 1 > 2",
        "raise type('Mute', (Exception,), {'__str__': lambda self: 1 // 0})()",
    ],
)
def test_what_fails_anywhere_is_its_own(tmp_path, line):
    assert fault(tmp_path, line) == ""
