"""Triton tricks that are some on a GPU alone: streams, captures, and a runner that spins."""

from __future__ import annotations

import pytest

from tests.evaluator.tricks.outcome import evaluate, held_to, not_believed, params

CHEATS = params("cheats", "triton", only_on="gpu")
HONEST = params("honest", "triton", only_on="gpu")


@pytest.mark.gpu
@pytest.mark.parametrize("trick", CHEATS)
def test_it_does_not_fall_for_on_a_gpu(service, trick, tmp_path):
    not_believed(service, trick, tmp_path, "cuda:0")


@pytest.mark.gpu
@pytest.mark.parametrize("trick", HONEST)
def test_it_lets_pass_on_a_gpu(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path, "cuda:0"))


def test_there_are_such_tricks():
    assert CHEATS
    assert HONEST
