import pytest

from campaigns.rules.target.roofline import MemoryLevel, ridges
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.rules.builders import ceiling

BF16 = ceiling(989.4e12, "op/s")
FP8 = ceiling(1978.8e12, "op/s")
DRAM = ceiling(3.35e12)


def test_r4_the_ridge_of_the_h100_fixture():
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.DRAM: [DRAM]})
    assert ridge.flops_per_byte == pytest.approx(295.3, abs=0.05)
    assert ridge.text == "989.4 Top/s ÷ 3.35 TB/s = 295 op/B"


def test_it_has_one_ridge_for_each_dtype_and_level():
    cache = ceiling(8e12, evidence=EvidenceClass.MEASURED)
    found = ridges(
        {"bfloat16": [BF16], "float8_e4m3fn": [FP8]},
        {MemoryLevel.DRAM: [DRAM], MemoryLevel.CACHE: [cache]},
    )
    assert {(r.dtype, r.level): r.flops_per_byte for r in found} == pytest.approx(
        {
            ("bfloat16", MemoryLevel.DRAM): 989.4 / 3.35,
            ("bfloat16", MemoryLevel.CACHE): 989.4 / 8,
            ("float8_e4m3fn", MemoryLevel.DRAM): 1978.8 / 3.35,
            ("float8_e4m3fn", MemoryLevel.CACHE): 1978.8 / 8,
        }
    )


def test_it_says_unknown_where_the_level_has_no_bandwidth():
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.CACHE: []})
    assert ridge.flops_per_byte is None
    assert ridge.text == "UNKNOWN (gpu-wiki not found)"


def test_it_prefers_the_measured_bandwidth():
    measured = ceiling(3.0e12, evidence=EvidenceClass.MEASURED)
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.DRAM: [DRAM, measured]})
    assert ridge.bandwidth is measured
