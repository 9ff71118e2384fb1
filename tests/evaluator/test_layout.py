"""Where tensors lie in a slot: apart, guarded, and by chance no two alike."""

from __future__ import annotations

import pytest

from campaigns.evaluator.layout import ALIGN, GUARD, Plain, ScalarArg, lay_out

ARGS = [
    Plain("x", "float32", (7, 9), output=False),
    ScalarArg("N", 7),
    Plain("w", "float64", (3,), output=False),
    Plain("flags", "bool", (5,), output=False),
    Plain("y", "float16", (7,), output=True),
]


def offsets(shift):
    return {arg.name: arg.offset for arg in lay_out(ARGS, shift).tensors}


def test_every_tensor_lies_at_a_boundary_by_itself():
    assert all(offset % ALIGN == 0 for offset in offsets(0).values())


@pytest.mark.parametrize("shift", [1, 2, 4, 16, 64, 128])
def test_shifted_tensors_keep_the_alignment_that_is_promised_and_no_other(shift):
    seen = set()
    for _ in range(60):
        found = lay_out(ARGS, shift)
        for arg in found.tensors:
            unit = max(shift, 8 if arg.name == "w" else 4 if arg.name == "x" else 1)
            assert arg.offset % unit == 0
        layout = [arg.offset % (2 * shift) // shift for arg in found.tensors]
        seen.add(tuple(layout))
        for start, end in found.gaps():
            assert end - start >= GUARD
    # One of two lies at an odd number: what is peeled for one tensor does not fit another.
    assert len(seen) > 1 or shift < 8


def test_neighbours_lie_differently():
    for _ in range(20):
        x, w, *_ = lay_out(ARGS, 16).tensors
        assert x.offset % 32 != w.offset % 32
