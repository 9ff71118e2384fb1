"""Emptying caches leaves what they held as it was."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.judge.integrity import cold_caches
from campaigns.evaluator.judge.integrity.cold_caches import COLD_RING, SCRUBBED, cooling

CPU, CACHE = torch.device("cpu"), 1 << 20


@pytest.fixture
def without_flush(monkeypatch):
    monkeypatch.setattr(cold_caches.platform, "machine", lambda: "riscv64")


def test_it_changes_nothing_that_it_takes_the_caches_from():
    rows = torch.randint(0, 255, (3, 4000), dtype=torch.uint8)
    before = rows.clone()
    cooling(CPU, CACHE)(rows[:, 64:], rows.numel())
    assert torch.equal(rows, before)


def test_without_the_instruction_it_writes_twice_the_cache(without_flush):
    cool = cooling(CPU, CACHE)
    cool(torch.zeros(1, 8, dtype=torch.uint8), COLD_RING * CACHE - 1)
    assert cool._memory.numel() == SCRUBBED * CACHE
    assert bool((cool._memory == 1).all())


def test_a_ring_of_slots_that_is_far_larger_than_the_cache_is_cold_anyway(without_flush):
    cool = cooling(CPU, CACHE)
    cool(torch.zeros(1, 8, dtype=torch.uint8), COLD_RING * CACHE)
    assert bool((cool._memory == 0).all())
