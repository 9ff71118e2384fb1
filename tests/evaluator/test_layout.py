"""Where tensors lie in a slot: apart, guarded, and by chance no two alike."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract.layout import ALIGN, GUARD, Plain, ScalarArg, Shift, lay_out

ARGS = [
    Plain("x", "float32", (7, 9), output=False),
    ScalarArg("N", 7),
    Plain("w", "float64", (3,), output=False),
    Plain("flags", "bool", (5,), output=False),
    Plain("y", "float16", (7,), output=True),
]


def test_every_tensor_lies_at_a_boundary_by_itself():
    assert all(arg.offset % ALIGN == 0 for arg in lay_out(ARGS).tensors)


@pytest.mark.parametrize("align", [1, 2, 4, 16, 64, 128])
@pytest.mark.parametrize("odd", [True, False])
def test_shifted_tensors_keep_the_alignment_that_is_promised_and_every_other_no_more(align, odd):
    places = set()
    for _ in range(40):
        found = lay_out(ARGS, Shift(align, odd=odd))
        for turn, arg in enumerate(found.tensors):
            unit = max(align, arg.nbytes // arg.count)
            assert arg.offset % unit == 0
            is_odd = bool(arg.offset % (2 * unit))
            assert is_odd is (odd if turn % 2 == 0 else not odd)
        for start, end in found.gaps():
            assert end - start >= GUARD
        places.add(tuple(arg.offset for arg in found.tensors))
    # Drawn anew each time, where there is something to draw.
    assert len(places) > 1 or align == 128
