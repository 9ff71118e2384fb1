import math

import pytest

from campaigns.charts.roofline import FRAME, Roof, RooflineChart, RoofPoint, build
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.frame import full
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.charts.builders import BANDWIDTHS, COMPUTES, caption, figure, roof_points
from tests.campaigns.rules.builders import ceiling


def chart(points=None, bandwidths=BANDWIDTHS, computes=COMPUTES) -> RooflineChart:
    found = build(roof_points() if points is None else points, bandwidths, computes)
    assert isinstance(found, RooflineChart)
    return found


def log_part(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low)


def test_it_places_each_glyph_by_its_data_within_a_pixel():
    found = chart()
    for mark in found.marks:
        across = log_part(float(mark.data_x), found.x.low, found.x.high)
        up = log_part(float(mark.data_y), found.y.low, found.y.high)
        assert mark.x == pytest.approx(FRAME.left + across * (FRAME.right - FRAME.left), abs=1)
        assert mark.y == pytest.approx(FRAME.bottom - up * (FRAME.bottom - FRAME.top), abs=1)


def test_it_shows_every_round_that_has_an_intensity_and_lists_all():
    found = chart()
    assert [mark.number for mark in found.marks] == [1, 2, 3, 4, 5, 7, 8, 9, 10]
    assert [row.point.number for row in found.rows] == list(range(1, 12))
    values = {row.point.number: row.values[1] for row in found.rows}
    assert all(full(values[mark.number]) == mark.data_y for mark in found.marks)


def test_it_crosses_out_what_stands_above_the_roof_whatever_was_claimed():
    found = chart([RoofPoint(2, VerdictWord.ACCEPTED, "/2", 1.0, 4.9e12)])
    assert found.marks[0].glyph.verdict is VerdictWord.INVALID
    assert found.arrows == ()
    assert found.last is None
    assert caption(figure(found)) == "No accepted round has a place under the roof yet."


def test_it_doubts_a_measured_roof_before_what_stands_above_it():
    point = RoofPoint(1, VerdictWord.ACCEPTED, "/r/1/", 1.25, 7e12)
    measured = [Roof(ceiling(4.8e12, evidence=EvidenceClass.MEASURED))]
    found = build([point], measured, COMPUTES)
    assert found.marks[0].glyph.verdict is VerdictWord.ACCEPTED
    assert caption(figure(found)).startswith("Round 1 reaches 116.7 % of the measured 4.8 TB/s")


def test_it_says_what_bounds_the_last_accepted_round():
    told = caption(figure(chart()))
    assert "Round 8 reaches 83.9 % of the measured 3.9 TB/s and lies on the memory side" in told


def test_it_keeps_every_point_and_the_roof_inside_the_axes():
    far = [RoofPoint(1, VerdictWord.ACCEPTED, "/1", 900.0, 1e9)]
    found = chart(far)
    assert all(
        found.x.holds(float(m.data_x)) and found.y.holds(float(m.data_y)) for m in found.marks
    )
    assert found.y.holds(67)


def test_it_links_each_ceiling_to_its_line():
    found = chart()
    first = found.ceilings[0]
    assert first.roof.label == "memory bandwidth 4.8 TB/s [h100.md:L23]"
    assert first.roof.cited.href == "/w/docs/h100.md#L23"
    assert [c.roof.css for c in found.ceilings] == ["ceiling", "ceiling-measured", "ceiling"]


def test_it_dots_a_ceiling_that_nobody_reviewed():
    roof = Roof(ceiling(4.8e12), reviewed=False)
    assert roof.css == "ceiling-unreviewed"
    assert roof.label.endswith("unreviewed")


def test_it_only_lists_a_ceiling_that_would_touch_another():
    close = [*BANDWIDTHS, Roof(ceiling(4.7e12, evidence=EvidenceClass.MEASURED))]
    found = chart(bandwidths=close)
    undrawn = [c.roof.cited.value for c in found.ceilings if c.line is None]
    assert undrawn == [4.7e12]


def test_it_draws_the_roof_through_its_ridge():
    found = chart()
    line = found.ceilings[0].line
    assert line is not None
    ridge = 67 / 4.8
    assert (line.x2, line.y2) == (found.x.position(ridge), found.y.position(67))
    assert f"{line.x2:g},{line.y2:g}" in found.forbidden


def test_it_draws_the_target_only_where_it_can_be_seen():
    near = build(roof_points(), BANDWIDTHS[:1], COMPUTES, 0.9)
    far = build(roof_points(), BANDWIDTHS[:1], COMPUTES, 0.4)
    assert isinstance(near, RooflineChart)
    assert isinstance(far, RooflineChart)
    assert near.target == ""
    assert far.target != ""
    assert "target: 40 % of memory bandwidth 4.8 TB/s [h100.md:L23] and " in figure(far)


def test_it_shows_small_machines_in_gflops():
    cpu = chart([], [Roof(ceiling(20e9))], [Roof(ceiling(100e9, "op/s"))])
    assert cpu.unit == "GFLOP/s"
    assert cpu.y.holds(100)


def test_it_says_unknown_without_a_ceiling():
    found = build(roof_points(), [], COMPUTES)
    assert not isinstance(found, RooflineChart)
    assert found.sentence == "bandwidth ceiling: UNKNOWN (gpu-wiki not found)"
