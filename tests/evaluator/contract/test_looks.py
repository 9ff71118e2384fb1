"""Looks at a comparison: their errors spend 5 % in all, and Student's interval is as in tables."""

from __future__ import annotations

from dataclasses import asdict
from math import e, erfc, log, pi, sqrt
from statistics import NormalDist

import numpy
import pytest

from campaigns.evaluator.contract import Look, Protocol
from campaigns.evaluator.contract.files import protocol_from
from campaigns.evaluator.contract.looks import LOOKS, mean_interval, student_quantile

NORMAL = NormalDist()
ERROR, POINTS = 0.05, 801


def spent(share: float) -> float:
    """The function of Lan and DeMets that is like the bounds of Pocock."""
    return ERROR * log(1 + (e - 1) * share)


class Walk:
    """A Brownian motion with bounds at each look, by the recursion of Armitage and others."""

    def __init__(self) -> None:
        self.at, self.places, self.mass = 0.0, numpy.zeros(1), numpy.ones(1)

    def leaves(self, share: float, bound: float) -> float:
        """The probability of leaving now for the first time, beyond `bound` deviations."""
        edge, deviation = bound * sqrt(share), sqrt(2 * (share - self.at))
        out = [
            erfc((edge - x) / deviation) / 2 + erfc((edge + x) / deviation) / 2 for x in self.places
        ]
        return float(numpy.dot(out, self.mass))

    def stay(self, share: float, bound: float) -> None:
        edge, variance = bound * sqrt(share), share - self.at
        places = numpy.linspace(-edge, edge, POINTS)
        steps = places[:, None] - self.places[None, :]
        density = numpy.exp(-(steps**2) / (2 * variance)) @ self.mass / sqrt(2 * pi * variance)
        self.at, self.places, self.mass = share, places, density * (places[1] - places[0])


def test_the_looks_spend_the_error_of_five_percent_and_no_more():
    walk, before = Walk(), 0.0
    for look in LOOKS:
        share = look.blocks / LOOKS[-1].blocks
        bound = NORMAL.inv_cdf(1 - look.level / 2)
        assert walk.leaves(share, bound) == pytest.approx(spent(share) - before, rel=0.01)
        walk.stay(share, bound)
        before = spent(share)
    assert before == pytest.approx(ERROR)


def test_r11_every_look_has_five_pairs():
    assert 2 * LOOKS[0].blocks >= 5


@pytest.mark.parametrize(
    ("degrees", "level", "quantile"),
    [(1, 0.05, 12.706), (2, 0.05, 4.303), (5, 0.01, 4.032), (8, 0.05, 2.306), (120, 0.05, 1.980)],
)
def test_the_quantiles_of_student_are_those_of_tables(degrees, level, quantile):
    assert student_quantile(degrees, level) == pytest.approx(quantile, abs=6e-4)


def test_an_interval_is_as_wide_as_the_table_says():
    found = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05)
    reach = 2.5706 * sqrt(3.5) / sqrt(6)
    assert found.mean == pytest.approx(3.5)
    assert (found.low, found.high) == pytest.approx((3.5 - reach, 3.5 + reach), abs=1e-3)


def test_rules_that_were_stored_before_there_were_looks_have_none():
    stored = asdict(Protocol(blocks=5, trials=3))
    del stored["looks"]
    found = protocol_from(stored)
    assert (found.version, found.looks, found.blocks_alone) == (1, (), 5)


def test_rules_with_looks_are_read_back():
    rules = Protocol(version=3, looks=LOOKS)
    assert protocol_from(asdict(rules)) == rules
    assert rules.looks[0] == Look(3, 0.0208)
    assert rules.blocks_alone == 3
