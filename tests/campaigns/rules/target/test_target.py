import pytest

from campaigns.rules.target.roofline import Placement, Work, choose_ceiling, place
from campaigns.rules.target.target import (
    Basis,
    Op,
    Target,
    absolute_target,
    baseline_target,
    ceiling_target,
)
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.rules.builders import ceiling

TILE = Work(flops=134_217_728, bytes=1_212_416)
DOCUMENTED = ceiling(3.35e12)
MEASURED = ceiling(3.0e12, evidence=EvidenceClass.MEASURED)
PEAK = ceiling(989.4e12, "op/s")


def placed(work: Work, *bandwidths) -> Placement:
    found = place(work, choose_ceiling(bandwidths), PEAK)
    assert isinstance(found, Placement)
    return found


def test_r6_it_rests_on_the_measured_ceiling_below_the_ridge():
    target = ceiling_target(placed(TILE, DOCUMENTED, MEASURED))
    assert (target.metric, target.op) == ("time_us", Op.AT_MOST)
    assert (target.basis, target.fraction) == (Basis.MEASURED_CEILING, 0.90)
    assert target.value == pytest.approx(TILE.bytes / 3.0e12 / 0.9 * 1e6)
    assert target.words == (
        "time_us ≤ 0.449 µs, 90 % of the measured ceiling: "
        "1.21 MB ÷ 3 TB/s = 0.404 µs; ÷ 90 % = 0.449 µs"
    )


def test_r6_it_rests_on_the_peak_where_nothing_was_measured():
    assert ceiling_target(placed(TILE, DOCUMENTED)).basis is Basis.PEAK
    above_the_ridge = placed(Work(1e15, 1e6), DOCUMENTED, MEASURED)
    assert ceiling_target(above_the_ridge).basis is Basis.PEAK


def test_it_is_met_on_the_better_side_only():
    time, rate = absolute_target("time_us", 10.0), absolute_target("flops_per_s", 1e12)
    assert [time.met(x) for x in (9.0, 10.0, 10.1)] == [True, True, False]
    assert [rate.met(x) for x in (0.9e12, 1e12, 2e12)] == [False, True, True]


def test_it_asks_for_a_share_of_a_baselines_speed():
    target = baseline_target(90.0)
    assert (target.value, target.basis) == (pytest.approx(100.0), Basis.BASELINE_RATIO)
    assert target.words == ("time_us ≤ 100 µs, 90 % of the baseline: 90.0 µs ÷ 90 % = 100 µs")


def test_it_states_an_absolute_value_as_it_is():
    assert absolute_target("bytes_per_s", 4e12).words == "bytes_per_s ≥ 4.00 TB/s"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "speed"}, "metric: 'speed'; accepted: time_us, flops_per_s, bytes_per_s"),
        ({"op": Op.AT_LEAST}, "op: ≥ of time_us; accepted: ≤"),
        ({"metric": "flops_per_s"}, "op: ≤ of flops_per_s; accepted: ≥"),
        ({"value": 0.0}, "value: 0.0; accepted: finite, above 0"),
        ({"value": float("inf")}, "value: inf"),
        ({"value": float("nan")}, "value: nan"),
        ({"fraction": 1.1}, "fraction: 1.1; accepted: above 0, at most 1"),
        ({"basis": Basis.ABSOLUTE}, "fraction: 0.9 of an absolute value; accepted: 1"),
    ],
)
def test_it_refuses_what_no_measurement_could_reach(change, words):
    fields = {"metric": "time_us", "op": Op.AT_MOST, "value": 10.0, "basis": Basis.PEAK}
    with pytest.raises(ValueError, match=words):
        Target(**(fields | change))


def test_it_refuses_a_metric_and_a_fraction_before_it_computes():
    with pytest.raises(ValueError, match="metric: 'speed'"):
        absolute_target("speed", 1.0)
    with pytest.raises(ValueError, match="fraction: 0;"):
        baseline_target(10.0, 0)


def test_it_may_ask_for_more_than_the_speed_of_a_baseline():
    assert baseline_target(90.0, 1.5).value == pytest.approx(60.0)
