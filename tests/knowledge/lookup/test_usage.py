"""Where a value is used: asked of whoever registered, all at once and in order."""

import pytest

from knowledge.lookup.usage import Replacement, SpecUse, register, unregister, uses
from knowledge.models import Platform, Spec

X = Platform(slug="x-1")
OLD = Spec(pk=1, platform=X, metric="tdp", shown="700 W")
NEW = Spec(pk=2, platform=X, metric="tdp", shown="650 W")


@pytest.fixture(autouse=True)
def _nobody_else(monkeypatch):
    """The campaigns are registered in a running program; these tests ask their own alone."""
    monkeypatch.setattr("knowledge.lookup.usage._providers", [])


@pytest.fixture
def provider():
    asked = []

    def answer(swaps):
        asked.append([(swap.spec.pk, swap.replacement and swap.replacement.pk) for swap in swaps])
        return [[SpecUse(f"campaign on {swap.spec.pk}", "/c/1/", "power")] for swap in swaps]

    answer.asked = asked
    register(answer)
    yield answer
    unregister(answer)


def test_it_asks_once_about_all_values(provider):
    found = uses([Replacement(OLD, NEW), Replacement(NEW)])
    assert [[use.title for use in each] for each in found] == [["campaign on 1"], ["campaign on 2"]]
    assert provider.asked == [[(1, 2), (2, None)]]


def test_it_asks_nobody_about_nothing(provider):
    assert uses([]) == []
    assert provider.asked == []


def test_it_registers_a_provider_once(provider):
    register(provider)
    assert len(uses([Replacement(OLD)])[0]) == 1


def test_it_refuses_an_answer_of_another_length():
    def short(swaps):
        return []

    register(short)
    try:
        with pytest.raises(ValueError, match="zip"):
            uses([Replacement(OLD)])
    finally:
        unregister(short)


@pytest.mark.parametrize(
    ("target", "would_be", "moves"),
    [("5 µs", "6 µs", True), ("5 µs", "5 µs", False), ("5 µs", "", False), ("", "", False)],
)
def test_it_says_whether_a_target_moves(target, would_be, moves):
    assert SpecUse("c", "/c/1/", "power", target, would_be).moves is moves
