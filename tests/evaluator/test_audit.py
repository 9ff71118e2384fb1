"""What the judge makes of one look into a burst, without a runner."""

from __future__ import annotations

import pytest

from campaigns.evaluator.judge.audit import UNDER_WAY, Glance, share_passed


@pytest.mark.parametrize(
    ("glance", "odd"),
    [
        pytest.param(Glance(0.5, 0, 0.5), False, id="even"),
        pytest.param(Glance(0.19, 0, 0.48), False, id="behind on a busy host"),
        pytest.param(Glance(0.0, 0, None), False, id="too short to say"),
        pytest.param(Glance(0.0, 0, None, 4e-4), False, id="too early in a short burst"),
        pytest.param(Glance(0.0, 0, None, 6e-4), True, id="nothing in most of a short burst"),
        pytest.param(Glance(0.1, 0, None, 6e-4), False, id="something in a short burst"),
        pytest.param(Glance(0.0, 0, 0.5), True, id="nothing to show"),
        pytest.param(Glance(0.06, 0, 0.7), True, id="only the first calls"),
        pytest.param(Glance(0.9, UNDER_WAY, 0.6), False, id="one under way"),
        pytest.param(Glance(0.9, UNDER_WAY + 1, 0.6), True, id="several under way"),
    ],
)
def test_it_finds_odd_what_no_honest_burst_shows(glance, odd):
    assert glance.odd is odd


def test_it_leaves_out_the_time_to_wake_the_runner():
    assert share_passed(at_s=0.006, seconds=0.010) == pytest.approx(0.5)
    assert share_passed(at_s=0.002, seconds=0.010) is None
    assert share_passed(at_s=0.002, seconds=0.003) is None
