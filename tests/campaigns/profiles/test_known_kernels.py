"""Kernels whose bottleneck is known, as an H200 counted them: `known.cu`, and what ncu printed."""

from __future__ import annotations

import pytest

from campaigns.profiles.classify import classify
from campaigns.profiles.findings import findings
from campaigns.profiles.kernel_profile import KernelProfile, one_of
from campaigns.profiles.metrics import METRICS
from campaigns.profiles.ncu import read_raw
from tests.campaigns.profiles import RECORDED

# Kernel: its class, and the first of its findings.
KNOWN = {
    "softmax_naive": ("launch", "small_grid"),
    "softmax_good": ("mixed: compute alu and memory dram", "unfused"),
    "reduce_naive": ("latency", "contended_atomics"),
    "reduce_good": ("memory dram", None),
    "transpose_naive": ("memory cache", "uncoalesced_stores"),
    "transpose_conflicts": ("memory cache", "bank_conflicts"),
    "transpose_good": ("memory dram", None),
    "gemm_naive": ("memory cache", "stall_lg_throttle"),
    "gemm_good": ("mixed: compute alu and memory cache", "stall_long_scoreboard"),
    "bf16_naive": ("mixed: memory cache and compute alu", "stall_mio_throttle"),
    "bf16_good": ("memory cache", "occupancy_by_registers"),
    "layernorm_naive": ("launch", "small_grid"),
    "layernorm_good": ("mixed: compute alu and memory dram", "stall_long_scoreboard"),
    "gather_naive": ("memory dram", "uncoalesced_loads"),
    "gather_good": ("memory dram", None),
    "histogram_naive": ("latency", "contended_atomics"),
    "histogram_good": ("mixed: memory dram and latency", "bank_conflicts"),
    "tiny_naive": ("launch", "small_grid"),
    "tiny_good": ("memory dram", None),
    "tail_naive": ("tail", "tail_wave"),
    "tail_good": ("compute alu", "enough_warps"),
    "spills_naive": ("memory dram", "spills"),
    "spills_good": ("mixed: compute alu and latency", "occupancy_by_registers"),
}


@pytest.fixture(scope="module")
def recorded() -> tuple[KernelProfile, ...]:
    return read_raw(RECORDED.read_text(), RECORDED.name)


def test_there_are_those_that_are_known(recorded):
    assert {one.kernel.partition("(")[0] for one in recorded} == {*KNOWN}


@pytest.mark.parametrize("name", KNOWN)
def test_r25_its_class_and_first_finding_are_those_that_are_known(recorded, name):
    one = one_of(recorded, rf"^{name}\(", RECORDED.name)
    found = findings(one)
    first = found[0].name if found else None
    assert (classify(one.values).words, first) == KNOWN[name], (classify(one.values), found)


def test_r26_each_finding_shows_its_numbers_and_how_sure_it_is(recorded):
    for one in recorded:
        for finding in findings(one):
            assert finding.evidence
            assert {*finding.evidence} <= {*METRICS}
            assert finding.strategies
            assert finding.share is None or 0 < finding.share <= 1


def test_r24_one_set_of_counters_has_all_that_is_asked_for(recorded):
    assert {frozenset(one.values) for one in recorded} == {frozenset(METRICS)}
    assert all(one.odd == {} for one in recorded)


def test_a_kernel_without_what_decides_is_of_no_class(recorded):
    values = dict(recorded[0].values)
    del values["dram_pct"]
    found = classify(values)
    assert (found.kind, found.why) == ("unknown", "not counted: dram_pct")
    assert findings(KernelProfile("k", {})) == ()
