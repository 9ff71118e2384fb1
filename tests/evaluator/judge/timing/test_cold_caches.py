"""Emptying caches leaves what they held as it was."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.judge.integrity import cold_caches
from campaigns.evaluator.judge.integrity.cold_caches import COLD_RING, SCRUBBED, cooling

CPU, CACHE = torch.device("cpu"), 1 << 20


@pytest.fixture
def other_memory(monkeypatch):
    """What is written where the processor cannot flush."""
    made, zeros = [], torch.zeros
    monkeypatch.setattr(cold_caches.platform, "machine", lambda: "riscv64")

    def noted(*given, **named):
        made.append(zeros(*given, **named))
        return made[-1]

    monkeypatch.setattr(cold_caches.torch, "zeros", noted)
    return made


def test_it_changes_nothing_that_it_takes_the_caches_from():
    rows = torch.randint(0, 255, (3, 4000), dtype=torch.uint8)
    before = rows.clone()
    cooling(CPU, CACHE)(rows[:, 64:], rows.numel())
    assert torch.equal(rows, before)


def test_without_the_instruction_it_writes_twice_the_cache(other_memory):
    cool = cooling(CPU, CACHE)
    cool(torch.zeros(1, 8, dtype=torch.uint8), COLD_RING * CACHE - 1)
    assert other_memory[0].numel() == SCRUBBED * CACHE
    assert bool((other_memory[0] == 1).all())


def test_a_ring_of_slots_that_is_far_larger_than_the_cache_is_cold_anyway(other_memory):
    cool = cooling(CPU, CACHE)
    cool(torch.zeros(1, 8, dtype=torch.uint8), COLD_RING * CACHE)
    assert bool((other_memory[0] == 0).all())
