"""Aligned pairs are equal, rise on both sides, and keep what an edit did not touch."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.specs.tracking.alignment import align
from tests.knowledge.effort import grows_evenly

words = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(words, words)
def test_it_pairs_equal_elements_in_rising_order(old, new):
    pairs = sorted(align(old, new).items())
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(a[1] < b[1] for a, b in pairwise(pairs))


@given(st.permutations(range(12)))
def test_it_pairs_unique_elements_in_rising_order(new):
    pairs = sorted(align(range(12), new).items())
    assert pairs
    assert all(new[j] == i for i, j in pairs)
    assert all(a[1] < b[1] for a, b in pairwise(pairs))


@given(words, words, words)
def test_it_pairs_everything_around_one_replacement(before, after, between):
    old = [*before, "old", *after]
    new = [*before, *between, *after]
    pairs = align(old, new)
    assert len(before) not in pairs
    assert len(pairs) >= len(before) + len(after)


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("", "abc", {}),
        ("abc", "abc", {0: 0, 1: 1, 2: 2}),
        ("xabcy", "zabcw", {1: 1, 2: 2, 3: 3}),
        ("abcd", "bcda", {1: 0, 2: 1, 3: 2}),
        ("xaay", "zaaw", {1: 1, 2: 2}),
    ],
)
def test_it_pairs_the_longest_chain(old, new, pairs):
    assert align(old, new) == pairs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda size: [n % 7 for n in range(size)], lambda size: [n % 5 for n in range(size)]),
        (lambda size: list(range(size)), lambda size: [n * 7_919 % size for n in range(size)]),
    ],
)
def test_its_work_grows_with_the_length_of_documents(old, new):
    assert grows_evenly(lambda size: align(old(size), new(size)), 1_000)
