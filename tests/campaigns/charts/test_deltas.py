import re

import pytest

from campaigns.charts.deltas import LEFT, RIGHT, DeltaChart, build
from campaigns.rules.verdict.decision import VerdictWord
from tests.campaigns.charts.builders import caption, delta, figure


def chart(*points) -> DeltaChart:
    found = build(points)
    assert isinstance(found, DeltaChart)
    return found


def test_it_maps_percent_linearly():
    found = chart(delta(2, 0.05), delta(3, -0.12))
    scale = (RIGHT - LEFT) / (found.x.high - found.x.low)
    for line in found.lines:
        expected = LEFT + (float(line.mark.data_x) - found.x.low) * scale
        assert line.mark.x == pytest.approx(expected, abs=1)
        assert line.whisker is not None
        assert line.whisker.x2 - line.whisker.x1 == pytest.approx(2 * scale, abs=1)


def test_it_shows_noise_around_a_bold_zero():
    found = chart(delta(2, 0.05))
    band = found.lines[0].band
    assert band.x == found.x.position(-1.2)
    assert band.x + band.width == pytest.approx(found.x.position(1.2), abs=0.02)
    assert found.zero == found.x.position(0)
    assert found.noise == (0.012, 0.012)
    assert "noise floor ±1.2 %; no change within it is accepted</li>" in figure(found)


def test_each_round_has_the_noise_floor_of_its_verdict():
    found = chart(delta(2, 0.05, noise=0.01), delta(3, 0.2, noise=0.163))
    assert [line.band.x for line in found.lines] == [found.x.position(-1), found.x.position(-16.3)]
    assert "noise floor ±1 % to ±16.3 %, by the round" in figure(found)


def test_it_cuts_the_axis_for_a_far_gain_and_says_so():
    found = chart(delta(2, 1.27), delta(3, 0.03))
    assert found.x.high < 20
    assert found.cuts == (RIGHT,)
    assert "axis cut" in figure(found)
    assert [line.beyond for line in found.lines] == [1, 0]
    assert found.lines[0].text == "2.27× faster"
    assert found.lines[0].mark.data_x == "127"


def test_it_does_not_cut_when_every_gain_is_far():
    found = chart(delta(2, 1.27))
    assert found.cuts == ()
    assert found.x.high > 127


def test_it_states_kind_and_number_of_its_intervals():
    found = chart(delta(2, 0.05), delta(3, 0.0, verdict=VerdictWord.NO_CHANGE))
    assert "1 of 2 compared rounds were accepted" in caption(figure(found))
    assert "Intervals: 95 %, n=10 pairs a case." in caption(figure(found))


def test_it_lists_what_it_draws():
    cells = re.findall(r"<td title=.*?>(.*?)</td>", figure(chart(delta(2, 0.05))))
    assert cells == ["+5.0", "+4.0", "+6.0", "1.2", "10"]


def test_it_says_so_when_nothing_was_compared():
    found = build([])
    assert not isinstance(found, DeltaChart)
    assert found.sentence == "No round has been compared with an incumbent yet."
