import pytest

from campaigns.rules.target.goal import (
    Goal,
    GoalError,
    GoalKind,
    Reached,
    goal_from,
    measured_by,
    parse_goal,
)
from campaigns.rules.target.roofline import Work
from campaigns.rules.target.target import Basis, absolute_target

WORKS = {"a": Work(2e6, 1e6), "b": Work(8e6, 4e6)}


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("90%", Goal(GoalKind.CEILING, 0.9)),
        (" 87.5 % ", Goal(GoalKind.CEILING, 0.875)),
        ("ceiling:0.95", Goal(GoalKind.CEILING, 0.95)),
        ("ceiling:95%", Goal(GoalKind.CEILING, 0.95)),
        ("baseline:1.5", Goal(GoalKind.BASELINE, 1.5)),
        ("baseline: 150%", Goal(GoalKind.BASELINE, 1.5)),
        ("time_us<=30", Goal(GoalKind.ABSOLUTE, 1.0, "time_us", 30.0)),
        ("time_us ≤ 30.5 µs", Goal(GoalKind.ABSOLUTE, 1.0, "time_us", 30.5)),
        ("flops_per_s>=5e13", Goal(GoalKind.ABSOLUTE, 1.0, "flops_per_s", 5e13)),
        ("flops_per_s >= 50 TFLOPS", Goal(GoalKind.ABSOLUTE, 1.0, "flops_per_s", 5e13)),
        ("bytes_per_s>=3.2TB/s", Goal(GoalKind.ABSOLUTE, 1.0, "bytes_per_s", 3.2e12)),
        ("time_us<=0.03 ms", Goal(GoalKind.ABSOLUTE, 1.0, "time_us", 30.0)),
        (">500 TFLOPS", Goal(GoalKind.ABSOLUTE, 1.0, "flops_per_s", 5e14)),
        ("≥ 500 TFLOPS", Goal(GoalKind.ABSOLUTE, 1.0, "flops_per_s", 5e14)),
        ("500TFLOPS", Goal(GoalKind.ABSOLUTE, 1.0, "flops_per_s", 5e14)),
        ("> 2.5 TB/s", Goal(GoalKind.ABSOLUTE, 1.0, "bytes_per_s", 2.5e12)),
        (">=3000 GB/s", Goal(GoalKind.ABSOLUTE, 1.0, "bytes_per_s", 3e12)),
        ("< 30 us", Goal(GoalKind.ABSOLUTE, 1.0, "time_us", 30.0)),
        ("≤30 µs", Goal(GoalKind.ABSOLUTE, 1.0, "time_us", 30.0)),
        (">60% peak efficiency", Goal(GoalKind.CEILING, 0.6)),
        (">= 60 % of peak", Goal(GoalKind.CEILING, 0.6)),
    ],
)
def test_r6_it_reads_a_goal_and_keeps_it(text, goal):
    found = parse_goal(text)
    assert found == goal
    assert goal_from(found.stored) == goal
    assert set(found.stored) == {"metric", "op", "value", "basis", "fraction"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fast", "accepted: 90% or ceiling:0.9"),
        ("", "accepted: 90% or ceiling"),
        ("0.9", "accepted: 90% or ceiling"),
        ("110%", "1.1 of a ceiling; accepted: 0.01 to 1"),
        ("0%", "accepted: 0.01 to 1"),
        ("ceiling:1e-320", "1e-320 of a ceiling; accepted: 0.01 to 1"),
        ("1e-310%", "accepted: 0.01 to 1"),
        ("0.99%", "of a ceiling; accepted: 0.01 to 1"),
        ("time_us<=1e-300", "time_us 1e-300 µs; accepted: 1e-06 to 1e\\+15 µs"),
        ("flops_per_s>=1e300", "op/s; accepted: 1 to 1e\\+24 op/s"),
        ("bytes_per_s>=1e-300", "accepted: 1 to 1e\\+24 B/s"),
        ("baseline:0.9", "which is 1 already; accepted: above 1, at most 1e\\+06, such as"),
        ("speed>=3", "metric 'speed'; accepted: time_us, flops_per_s, bytes_per_s"),
        ("time_us>=30", "'>=' of time_us; accepted: ≤"),
        ("flops_per_s<=30", "'<=' of flops_per_s; accepted: ≥"),
        ("time_us<=0", "value: 0.0; accepted: finite, above 0"),
        ("time_us<=30 h", "unit 'h' of time_us; accepted: ns, us, µs, μs, ms, s, or none"),
        ("<500 TFLOPS", "'<' of flops_per_s; accepted: ≥"),
        ("> 30 us", "'>' of time_us; accepted: ≤"),
        ("> 5 apples", "unit 'apples'; accepted: 90% or .*>500 TFLOPS"),
        (">500", "accepted: 90% or .*>500 TFLOPS"),
        ("<60%", "accepted: 90% or"),
        ("bytes_per_s>=3 TFLOPS", "op/s"),
        ("bytes_per_s>=3 KB/s", "KB/s"),
        ("time_us<=1e999", "accepted"),
        ("9" * 100 + "%", "accepted: 90% or"),
    ],
)
def test_it_refuses_a_goal_and_says_what_is_accepted(text, words):
    with pytest.raises(GoalError, match=words):
        parse_goal(text)


def test_it_is_a_share_of_the_ceilings_where_none_was_set():
    assert goal_from({}) == Goal(GoalKind.CEILING, 0.9)
    assert goal_from({}, 0.8).fraction == 0.8
    assert Goal().target(100.0) is None


def test_it_follows_from_the_baseline_once_that_is_measured():
    goal = parse_goal("baseline:2")
    assert goal.target(None) is None
    assert goal.words(None) == "200 % of the speed of v0, which is not measured yet"
    found = goal.target(100.0)
    assert (found.value, found.basis) == (50.0, Basis.BASELINE_RATIO)
    assert goal.words(100.0, 2) == (
        "time_us ≤ 50.0 µs, 200 % of the baseline: 100 µs ÷ 200 % = 50.0 µs, "
        "as geometric mean over 2 cases"
    )


def test_it_measures_a_metric_over_all_cases():
    times = {"a": 10.0, "b": 40.0}
    assert measured_by("time_us", times, {}) == pytest.approx(20.0)
    assert measured_by("flops_per_s", times, WORKS) == pytest.approx(2e11)
    assert measured_by("bytes_per_s", times, WORKS) == pytest.approx(1e11)
    assert measured_by("bytes_per_s", times, {"a": WORKS["a"]}) is None
    assert measured_by("flops_per_s", {"a": 1.0}, {"a": Work(0, 1)}) is None
    assert measured_by("time_us", {}, WORKS) is None


def test_it_says_both_sides_of_a_target():
    reached = Reached(absolute_target("time_us", 30.0), 28.0)
    assert reached.met
    assert reached.words == "time_us is 28.0 µs, the target is time_us ≤ 30.0 µs"
    assert not Reached(absolute_target("bytes_per_s", 4e12), 3e12).met
