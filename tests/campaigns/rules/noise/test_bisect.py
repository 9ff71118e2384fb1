"""The search for the first slower round: right, short, and honest on what it can not tell (R58)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.bisect import BisectAnswer, BisectProbe, answer_of, bisect
from campaigns.rules.noise.gain import Gain


def gain(low: float, high: float) -> Gain:
    return Gain((low + high) / 2, low, high, 10)


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[int], int, set[int]]:
    """Accepted rounds, the index of the first slower one, and what can not be told."""
    rounds = sorted(draw(st.sets(st.integers(1, 500), min_size=2, max_size=60)))
    first = draw(st.integers(1, len(rounds) - 1))
    unclear = draw(st.sets(st.sampled_from(rounds[1:-1]))) if len(rounds) > 2 else set()
    return rounds, first, unclear


class Bench:
    def __init__(self, rounds: list[int], first: int, unclear: set[int]) -> None:
        self.rounds, self.first, self.unclear = rounds, first, unclear
        self.measured: list[int] = []

    def __call__(self, number: int) -> BisectProbe:
        self.measured.append(number)
        if number in self.unclear:
            return BisectProbe(number, BisectAnswer.UNCLEAR)
        worse = self.rounds.index(number) >= self.first
        return BisectProbe(number, BisectAnswer.WORSE if worse else BisectAnswer.BETTER)


@given(chains())
def test_r58_it_finds_the_first_slower_round_in_log2_steps(
    chain: tuple[list[int], int, set[int]],
) -> None:
    rounds, first, _ = chain
    bench = Bench(rounds, first, set())
    found = bisect(rounds, bench)
    assert found.suspects == (rounds[first],)
    assert found.good == rounds[first - 1]
    assert len(bench.measured) <= 1 + math.ceil(math.log2(len(rounds) - 1 or 1))
    assert [look.round for look in found.probes] == bench.measured


@given(chains())
def test_r58_it_skips_what_is_unclear_and_never_accuses_the_wrong_one(
    chain: tuple[list[int], int, set[int]],
) -> None:
    rounds, first, unclear = chain
    bench = Bench(rounds, first, unclear)
    found = bisect(rounds, bench)
    assert rounds[first] in found.suspects
    assert found.good not in found.suspects
    # All but the last of the suspects are those that could not be told.
    assert set(found.suspects[:-1]) <= unclear
    assert found.suspects[-1] not in unclear
    assert len(bench.measured) == len(set(bench.measured))
    assert rounds[0] not in bench.measured


@pytest.mark.parametrize("answer", [BisectAnswer.BETTER, BisectAnswer.UNCLEAR])
def test_it_looks_for_nothing_where_the_last_round_is_not_shown_to_be_slower(
    answer: BisectAnswer,
) -> None:
    found = bisect([1, 2, 4, 7], lambda number: BisectProbe(number, answer))
    assert (found.good, found.suspects) == (1, ())
    assert [look.round for look in found.probes] == [7]


@pytest.mark.parametrize("rounds", [[], [3]])
def test_it_needs_two_rounds(rounds: list[int]) -> None:
    with pytest.raises(ValueError, match="accepted: a good one and later ones"):
        bisect(rounds, lambda number: BisectProbe(number, BisectAnswer.WORSE))


@pytest.mark.parametrize(
    ("gains", "answer"),
    [
        ([gain(-0.10, -0.05)], BisectAnswer.WORSE),
        ([gain(-0.10, -0.03)], BisectAnswer.UNCLEAR),
        ([gain(-0.10, -0.01)], BisectAnswer.UNCLEAR),
        ([gain(-0.03, -0.01)], BisectAnswer.BETTER),
        ([gain(0.5, 0.6)], BisectAnswer.BETTER),
        ([gain(-0.10, -0.05), gain(-0.2, -0.1)], BisectAnswer.WORSE),
        ([gain(-0.10, -0.05), gain(0.0, 0.1)], BisectAnswer.UNCLEAR),
        ([], BisectAnswer.UNCLEAR),
    ],
)
def test_it_calls_a_round_worse_only_clear_of_the_limit(
    gains: list[Gain], answer: BisectAnswer
) -> None:
    assert answer_of(gains, 0.03) is answer
