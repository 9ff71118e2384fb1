"""No two texts of a drawing touch, and none leaves it, in small letters and in large ones."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.charts import (
    campaign_trend,
    case_heat,
    deltas,
    kernel_parts,
    phase_times,
    progress,
    roof_share,
    roofline,
)
from campaigns.charts.campaign_trend import TrendGroup, TrendPoint
from campaigns.charts.case_heat import HeatGain, HeatRound
from campaigns.charts.kernel_parts import PartsRound
from campaigns.charts.labels import NARROW, WIDE, Label, Placer, touch
from campaigns.charts.phase_times import PhaseTime
from campaigns.charts.progress import FRAME
from campaigns.charts.roof_share import SharePoint
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.charts.builders import COMPUTES, delta, faults_of, figure, href, mark
from tests.campaigns.rules.builders import ceiling

LIMIT = "the documented 4.80 TB/s or the measured 67.0 Top/s"


def numbers(*marks):
    return [label.text for label in Placer(FRAME, marks).numbers(marks)]


def test_it_merges_the_numbers_of_marks_closer_than_twelve_units():
    found = numbers(mark(7, 300, 100), mark(8, 300, 111.9), mark(9, 300, 112))
    assert sorted(found) == ["7, 8", "9"]


def test_it_names_a_few_of_many_rounds_at_one_place():
    marks = [mark(number, 100, 100) for number in (1, 3, 5, 7, 8, 9, 12)]
    assert numbers(*marks) == ["1, 3, 5 … 12 (7 rounds)"]


def test_it_moves_a_number_to_another_side_before_it_leaves_it_out():
    near = [mark(1, 300, 200), mark(2, 320, 200)]
    labels = {label.text: label for label in Placer(FRAME, near).numbers(near)}
    assert labels["2"].anchor == "start"
    assert labels["1"].x < 300


def test_it_keeps_the_accepted_and_the_newest_where_there_is_no_room_for_all():
    crowd = [
        mark(n, 100 + 13 * (n % 9), 200 + 13 * (n // 9), VerdictWord.REJECTED) for n in range(1, 81)
    ]
    kept = mark(5, 150, 240)
    found = numbers(kept, *crowd)
    assert "5" in " ".join(found).replace(",", "").split()
    assert len(found) < 40


def test_it_keeps_for_a_narrow_drawing_what_does_not_touch_there():
    placer = Placer(FRAME)
    first = placer.place([Label(200, 200, "one")])
    second = placer.place([Label(200 + WIDE.width("one") + 1, 200, "two")])
    assert (first.minor, second.minor) == (False, True)
    assert placer.place([Label(200, 201, "three")]) is None


def test_turned_texts_touch_only_where_they_are():
    flat, steep = Label(100, 100, "a long text"), Label(100, 190, "a long text", angle=-45)
    assert not touch(WIDE.area(flat), WIDE.area(steep))
    assert touch(NARROW.area(flat), NARROW.area(Label(110, 110, "a long text", angle=-45)))


WORDS = [word for word in VerdictWord if word is not VerdictWord.RUNNING]


@pytest.mark.parametrize("seed", range(8))
def test_no_text_touches_another_whatever_the_rounds_are(seed):
    dice = random.Random(seed)
    count, time_us = dice.choice((1, 3, 12, 40, 300)), 10 ** dice.uniform(-1, 5)
    best, points, roofs, gains = time_us, [], [], []
    for number in range(1, count + 1):
        verdict = VerdictWord.ACCEPTED if number == 1 else dice.choice(WORDS)
        gain = dice.gauss(0.02, 0.1) if dice.random() < 0.8 else dice.uniform(0, 3)
        own = max(best / (1 + max(gain, -0.9)), time_us * 1e-3)
        best = own if verdict is VerdictWord.ACCEPTED else best
        timed = own if dice.random() < 0.9 else None
        points.append(progress.ProgressPoint(number, verdict, href(number), timed))
        intensity = 1.25 * dice.choice((1, 1, 1, 2))
        roofs.append(roofline.RoofPoint(number, verdict, href(number), intensity, 1e15 / own / 3e3))
        gains.append(delta(number, gain, abs(dice.gauss(0, 0.02)), verdict))
    target = progress.TargetLine(time_us * dice.uniform(0.01, 1.1), "")
    bandwidths = [
        roofline.Roof(ceiling(4.8e12 * part, evidence=EvidenceClass.MEASURED, metric=name))
        for part, name in zip(
            sorted(dice.uniform(0.3, 1) for _ in range(3)),
            ("memory_bandwidth", "copy_bandwidth", "write_bandwidth"),
            strict=True,
        )
    ]
    computes = [*COMPUTES, roofline.Roof(ceiling(67e12 * dice.uniform(0.3, 1), "op/s"))]
    charts = [
        progress.build(points, target),
        roofline.build(roofs, bandwidths, computes, 0.9, "4096x4096"),
        deltas.build(gains),
    ]
    assert [fault for chart in charts for fault in faults_of(figure(chart))] == []


def test_the_other_charts_hold_to_it_too():
    dice = random.Random(4)
    found = []
    for count in (1, 2, 7, 60):
        kernels = [f"kernel_with_a_long_name_{dice.random()}" for _ in range(count % 8)]
        rounds = [(n, dice.choice(WORDS)) for n in range(1, count + 1)]
        parts = [
            PartsRound(n, word, href(n), {k: 10 ** dice.uniform(-2, 4) for k in kernels})
            for n, word in rounds
        ]
        cases = [f"case {n} {'x' * n}" for n in range(count)]
        heat = [
            HeatRound(n, word, href(n), dict.fromkeys(cases, HeatGain(dice.gauss(0, 1) ** 2, "")))
            for n, word in rounds
        ]
        share = [SharePoint(n, word, href(n), n, dice.uniform(0, 2)) for n, word in rounds]
        now = datetime(2026, 11, 21, tzinfo=UTC)
        moments = [now + timedelta(days=dice.uniform(0, 90)) for _ in rounds]
        points = [
            TrendPoint(n, "/", at, 10 ** dice.uniform(-1, 4), dice.choice((None, dice.random())))
            for n, at in enumerate(sorted(moments), 1)
        ]
        groups = [TrendGroup("a long name of a platform " * 4, tuple(points)) for _ in range(7)]
        phases = [PhaseTime(f"phase {n}", 1, 10 ** dice.uniform(0, 5), 3) for n in range(9)]
        charts = [
            kernel_parts.build(parts, "4096x4096"),
            case_heat.build(heat),
            roof_share.build(share, 0.9, LIMIT),
            roof_share.build(share, 0.9, LIMIT, "hours since the campaign began"),
            campaign_trend.build(groups),
            phase_times.build(phases),
        ]
        for chart in charts:
            found += [f"{chart.kind}, {count}: {fault}" for fault in faults_of(figure(chart))]
    assert found == []
