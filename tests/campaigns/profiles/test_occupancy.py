"""The occupancy of a kernel by its resources: the examples of the wiki and of R29."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Resources
from campaigns.profiles.occupancy import SmLimits, occupancy

# The H200's and the MI300X's, as their documents in the wiki have them.
H200 = SmLimits(64, 32, 65536, 228 << 10, 32, 4, 256, 128, 1024)
MI300X = SmLimits(32, None, 131072, 64 << 10, 64, 4, 8 * 64, 512, 0)


@pytest.mark.parametrize(
    ("registers", "blocks", "share"), [(32, 8, 1.0), (40, 6, 0.75), (41, 5, 0.625)]
)
def test_r29_registers_limit_it_in_steps(registers, blocks, share):
    found = occupancy(Resources(registers, shared_bytes=0, threads=256), H200)
    assert (found.blocks, found.share) == (blocks, share)


def test_r29_it_names_the_limiter_and_the_next_step():
    found = occupancy(Resources(41, shared_bytes=0, threads=256), H200)
    assert found.limiter == "registers"
    assert found.next_step == "40 registers a thread fit 6 blocks in place of 5"
    assert occupancy(Resources(32, shared_bytes=0, threads=256), H200).next_step == ""


def test_r29_shared_memory_limits_it_with_what_the_system_keeps():
    # Two blocks of 114 KiB would fit without the 1 KiB that each of them loses.
    found = occupancy(Resources(32, shared_bytes=114 << 10, threads=256), H200)
    assert (found.blocks, found.limiter) == (1, "shared memory")
    assert found.next_step == "115,712 bytes of shared memory a block fit 2 blocks in place of 1"
    assert occupancy(Resources(32, shared_bytes=115712, threads=256), H200).blocks == 2


def test_r29_small_blocks_are_limited_by_their_number():
    found = occupancy(Resources(16, shared_bytes=0, threads=32), H200)
    assert (found.blocks, found.limiter, found.share) == (32, "blocks", 0.5)
    assert found.next_step.startswith("larger blocks")


@pytest.mark.parametrize(("registers", "waves"), [(280, 4), (256, 8), (64, 32), (65, 28)])
def test_r29_waves_of_amd_share_the_registers_of_a_simd(registers, waves):
    found = occupancy(Resources(registers, accumulators=136, shared_bytes=0, threads=64), MI300X)
    assert found.warps == waves


def test_what_is_not_known_limits_nothing():
    found = occupancy(Resources(255, threads=256), SmLimits(warps=64, threads_per_warp=32))
    assert (found.blocks, found.share) == (8, 1.0)
    assert occupancy(Resources(32), H200) is None
    assert occupancy(Resources(32, threads=256), SmLimits()) is None


def test_a_kernel_that_does_not_fit_has_no_block():
    found = occupancy(Resources(255, shared_bytes=300 << 10, threads=1024), H200)
    assert (found.blocks, found.warps) == (0, 0)
