from dataclasses import replace

import pytest

from campaigns.charts import passport
from campaigns.charts.marks import NoChart
from campaigns.rules.noise.passport import Length
from tests.campaigns.charts.builders import figure

LENGTH = Length("add 2048", 34.0, 0.012, 0.002, -0.003, 0.006, 0.008, 4, 4, 40)


def test_it_says_that_there_is_nothing_to_draw():
    assert isinstance(passport.build([]), NoChart)


def test_it_places_band_rail_and_interval_around_zero():
    chart = passport.build([LENGTH, replace(LENGTH, time_us=1200.0, sigma=0.0)])
    first, second = chart.lines
    assert first.y < second.y
    middle = first.band.x + first.band.width / 2
    assert middle == pytest.approx(chart.zero, abs=0.02)
    # Floors of 1.6 % and 1 % on one axis.
    assert first.band.width / second.band.width == pytest.approx(1.6, abs=0.01)
    assert first.whisker.x1 < chart.zero < first.x < first.whisker.x2
    assert first.rail.x2 - chart.zero == pytest.approx(chart.zero - first.rail.x1, abs=0.02)
    html = " ".join(figure(chart).split())
    assert ">34.0 µs</text>" in html
    assert ">±1.6 %</text>" in html


def test_it_holds_everything_on_its_axis():
    wild = replace(LENGTH, gain=-0.24, low=-0.36, high=-0.02, sigma=0.33, spread=0.6)
    chart = passport.build([wild, LENGTH])
    for line in chart.lines:
        ends = (line.rail.x1, line.rail.x2, line.whisker.x1, line.band.x)
        assert all(chart.frame.left <= end <= chart.frame.right for end in ends)


def test_it_draws_without_styles_and_with_a_table_of_all_numbers():
    chart = passport.build([LENGTH])
    html = figure(chart)
    assert " style=" not in html
    assert html.count("<circle") == 1
    assert "4 of 4 intervals" in html
    for words in ("add 2048", "34.0", "1.20", "0.20", "-0.30", "0.60", "1.60", "40"):
        assert words in html
