"""Every honest C++ and Triton candidate passes."""

from __future__ import annotations

import pytest

from tests.evaluator.tricks.outcome import evaluate, held_to, params


@pytest.mark.parametrize("trick", params("honest", "cpp", "triton"))
def test_it_lets_pass(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path))
