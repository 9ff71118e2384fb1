"""Targets of machine code, and what differs between two candidates'."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Function, Resources
from campaigns.profiles.isa import OWN, CodeChange, code_changes, isa_targets


def gpu(name="kernel", *, kinds=None, widths=None, **used):
    kinds = kinds or {"float32": 10}
    return Function(name, 100, kinds, widths=widths or {}, resources=Resources(**used))


def met(functions, **more):
    return {one.name: one.is_met for one in isa_targets(functions, "cuda", **more)}


def test_r31_a_kernel_without_spills_and_with_wide_loads_meets_its_targets():
    good = gpu(widths={"global_load": {"16": 8, "4": 2}}, stack_bytes=0, registers=40)
    assert met([good]) == {"spills": True, "stack": True, "wide_loads": True}
    bad = gpu(widths={"global_load": {"16": 7, "4": 3}}, kinds={"local": 3}, stack_bytes=64)
    assert met([bad]) == {"spills": False, "stack": False, "wide_loads": False}


def test_r31_copies_into_shared_memory_are_loads():
    found = gpu(widths={"async_copy": {"16": 24}, "shared_load": {"16": 8, "4": 8}})
    targets = {one.name: one for one in isa_targets([found], "cuda")}
    assert targets["wide_loads"].value == 1.0
    assert targets["wide_shared_loads"].value == 0.5


def test_r31_only_a_product_of_matrices_wants_matrix_units():
    plain = gpu(widths={"global_load": {"16": 1}})
    assert "matrix" not in met([plain])
    assert met([plain], multiplies=True)["matrix"] is False
    assert met([gpu(kinds={"matrix": 4})], multiplies=True)["matrix"] is True


def test_r31_spilled_registers_that_amd_tells_count():
    assert met([gpu(spilled=3, stack_bytes=12)])["spills"] is False


def test_r31_a_kernel_of_a_cpu_wants_vectors_and_calls_nothing():
    scalar = Function("solve", 62, {"scalar_float": 3, "call": 1}, {"expf": 1, "largest": 1})
    own = Function("largest", 9, {"scalar_float": 1}, {"fmaxf": 1})
    targets = {one.name: one for one in isa_targets([scalar, own], "cpp")}
    assert (targets["vectors"].value, targets["vectors"].is_met) == (0.0, False)
    assert (targets["calls"].value, targets["calls"].is_met) == (2, False)
    vector = Function("solve", 20, {"vector_256": 9, "scalar_float": 1})
    assert met([vector]) == {"vectors": True, "calls": True}


@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_it_advises_steps_of_the_source_s_own_language_alone(backend):
    found = gpu(widths={"global_load": {"4": 9}}, kinds={"local": 3}, stack_bytes=64)
    targets = isa_targets([found], backend, multiplies=True)
    assert len(targets) == 4
    for one in targets:
        assert one.strategies
        assert {name.partition(".")[0] for name in one.strategies} == {OWN[backend][:-1]}


def test_no_code_has_no_targets():
    assert isa_targets([], "cuda") == ()


def test_it_tells_what_differs_between_two_candidates():
    before = gpu(widths={"global_load": {"4": 8}}, registers=40, kinds={"global_load": 8})
    after = gpu(widths={"global_load": {"16": 2}}, registers=40, kinds={"global_load": 2})
    assert code_changes([before], [after]) == (
        CodeChange("global_load", 8, 2),
        CodeChange("global_load of 4 bytes", 8, None),
        CodeChange("global_load of 16 bytes", None, 2),
    )
    assert code_changes([before], [before]) == ()
