"""Bursts are made by a loop of machine code, with arguments of every type a kernel may have."""

from __future__ import annotations

import ctypes
import subprocess
from types import SimpleNamespace

import pytest

from campaigns.evaluator.builds.shared_object import NAMES, NativeLoop
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.programs import cpp_compiler as compiler
from campaigns.evaluator.contract.signature import FLOATS, INTEGERS
from campaigns.evaluator.sandbox.workplace import Ended

KERNEL = """
extern "C" void solve(double* y, bool b, short s, unsigned long long u, float f, double d, int i) {
  *y += d + b + s + u + f + 1000 * i;
}
"""
TYPES = (
    *(ctypes.c_void_p, ctypes.c_bool, ctypes.c_short, ctypes.c_ulonglong),
    *(ctypes.c_float, ctypes.c_double, ctypes.c_int),
)


@pytest.fixture
def place(tmp_path):
    def run(command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return Ended(done.returncode, done.stderr)

    return SimpleNamespace(folder=tmp_path, run=run, keep_log=lambda log: None)


def test_it_calls_on_the_slots_it_is_told_and_hands_every_argument_over(place):
    (place.folder / "kernel.cpp").write_text(KERNEL)
    command = [compiler(), "-shared", "-fPIC", "kernel.cpp", "-o", "kernel.so"]
    assert place.run(command).status == 0
    solve = ctypes.CDLL(str(place.folder / "kernel.so")).solve
    loop = NativeLoop(TYPES, place)
    loop.build(compiler())
    loop.load()
    sums = (ctypes.c_double * 3)()
    at = ctypes.addressof(sums)
    given = [(at + 8 * k, True, -2, 2**40, 0.5, 0.25, k) for k in range(3)]
    rows = [tuple(kind(v) for kind, v in zip(TYPES, row, strict=True)) for row in given]
    loop.over(solve, rows)([2, 0, 2])()
    one = 1 - 2 + 2**40 + 0.5 + 0.25
    assert list(sums) == [one, 0, 2 * (one + 2000)]


def test_it_knows_a_name_for_every_type_of_a_parameter():
    assert {*INTEGERS.values(), *FLOATS.values(), ctypes.c_void_p} == set(NAMES)


def test_it_is_the_host_that_can_not_compile_the_loop(place):
    with pytest.raises(Unsupported, match="the loop around a kernel"):
        NativeLoop(TYPES, place).build("false")
