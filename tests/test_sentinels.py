"""`make test` has one known candidate judged for each mechanism, the same every day."""

from __future__ import annotations

import pytest

from tests.evaluator.tricks.candidate_file import every
from tests.sentinels import HONEST, TRICKS, is_sentinel


@pytest.mark.parametrize(("kind", "named"), [("cheats", TRICKS), ("honest", HONEST)])
def test_it_names_candidates_that_exist_and_each_once(kind, named):
    found = {trick.name for backend in ("cpp", "triton") for trick in every(kind, backend)}
    assert set(named.values()) <= found
    assert len(set(named.values())) == len(named)


def test_there_is_one_for_each_mechanism():
    assert len(TRICKS) == 24
    assert len(HONEST) == 10


def test_it_tells_an_honest_kernel_from_a_trick_of_the_same_name():
    assert is_sentinel("cpp/plain", honest=True)
    assert not is_sentinel("cpp/plain", honest=False)
