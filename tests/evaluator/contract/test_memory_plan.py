"""The judge's memory is planned before it is allocated."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.contract.memory_plan import (
    ENOUGH_SLOTS,
    GIB,
    MIB,
    QUESTION,
    CaseNeed,
    DoesNotFit,
    plan_memory,
)

SMALL = Protocol(max_slots=64, arena_mib=1024)


def planned(call_bytes, free, *, arms=2, on_gpu=True, shift=False, protocol=None):
    need = CaseNeed(call_bytes, call_bytes * 2 // 3, 2 * call_bytes)
    chosen = protocol or (Protocol() if on_gpu else SMALL)
    return need, plan_memory([need], free, chosen, arms=arms, on_gpu=on_gpu, shift=shift)


@pytest.mark.parametrize("shift", [True, False])
@pytest.mark.parametrize("arms", [1, 2, 4])
@pytest.mark.parametrize("call_bytes", [MIB, 350 * MIB, 4 * GIB, 12 * GIB])
@pytest.mark.parametrize(("free", "on_gpu"), [(139 * GIB, True), (4 * GIB, False)])
def test_what_is_planned_fits_into_its_share(call_bytes, free, on_gpu, arms, shift):
    try:
        need, plan = planned(call_bytes, free, arms=arms, on_gpu=on_gpu, shift=shift)
    except DoesNotFit:
        least = (arms + (6 if shift else 2) * 2 / 3 + QUESTION) * call_bytes + 4 * GIB * on_gpu
        assert least > 0.8 * free
        return
    slots = plan.slots(call_bytes, 4096)
    question = max(plan.piece, need.raised if plan.can_be_raised else need.stride)
    held = 0 if shift else slots * need.given
    assert slots >= 1
    assert arms * plan.arena + held + QUESTION * question + plan.kept <= plan.share * free


def test_small_calls_have_all_slots_within_half_of_what_is_free():
    _, plan = planned(MIB, 139 * GIB)
    assert (plan.share, plan.slots(MIB, 4096), plan.can_be_raised) == (0.5, 4096, True)
    _, plan = planned(MIB, 4 * GIB, on_gpu=False)
    assert (plan.share, plan.slots(MIB, 64), plan.can_be_raised) == (0.5, 64, True)


def test_a_larger_share_comes_before_few_slots_and_before_a_lower_precision():
    _, plan = planned(4 * GIB, 139 * GIB)
    assert (plan.share, plan.can_be_raised) == (0.9, True)
    assert plan.slots(4 * GIB, 4096) >= ENOUGH_SLOTS
    _, plan = planned(19 * GIB, 139 * GIB)
    assert (plan.slots(19 * GIB, 4096), plan.can_be_raised) == (1, False)
    assert "too little for answers in float64" in plan.words


def test_a_call_larger_than_the_slots_of_a_protocol_has_a_few_where_memory_is_left():
    _, plan = planned(2 * GIB, 128 * GIB, on_gpu=False)
    assert (plan.share, plan.slots(2 * GIB, 64)) == (0.5, ENOUGH_SLOTS)


def test_what_cannot_fit_is_refused_with_the_arithmetic():
    with pytest.raises(DoesNotFit, match=r"takes 30 GiB: 2 × that .* 90% of 139 GiB can be had"):
        planned(30 * GIB, 139 * GIB)
