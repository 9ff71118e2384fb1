"""The registry: one word per thing, other spellings found but never written."""

import pytest

from knowledge.specs.metrics import (
    ALIASES,
    DIMENSIONS,
    METRICS,
    MetricError,
    metric_named,
    resolve_metric,
)
from knowledge.specs.quantity import ACCEPTED

METRIC_LIST = list(METRICS.values())


def test_it_keeps_each_number_in_a_canonical_unit_with_a_dimension():
    numeric = [metric for metric in METRIC_LIST if metric.numeric]
    assert {metric.unit for metric in numeric} <= set(ACCEPTED)
    assert set(DIMENSIONS) == {*ACCEPTED, "text"}
    assert METRICS["memory_bandwidth"].dimension == "bandwidth"
    assert METRICS["l2_size"].dimension == "memory size"


@pytest.mark.parametrize("metric", METRIC_LIST, ids=METRICS)
def test_it_bounds_numbers_and_leaves_text_alone(metric):
    if metric.numeric:
        assert metric.low < metric.high
        assert metric.plausible(metric.low)
        assert metric.plausible(metric.high)
        assert not metric.plausible(metric.high * 1.01)
        assert not metric.plausible(metric.low - 1)
    else:
        assert (metric.low, metric.high) == (None, None)
    assert metric.meaning


def test_it_gives_an_alias_to_one_metric_and_to_no_name():
    aliases = [alias for metric in METRIC_LIST for alias in metric.aliases]
    assert len(aliases) == len(set(aliases)) == len(ALIASES)
    assert set(aliases).isdisjoint(METRICS)


@pytest.mark.parametrize("alias", ["bf16_tflops", "peak_fp8", "fp32_tflops", "register_file_size"])
def test_it_has_no_alias_that_could_mean_two_metrics(alias):
    with pytest.raises(MetricError):
        resolve_metric(alias)


@pytest.mark.parametrize("metric", METRIC_LIST, ids=METRICS)
def test_it_resolves_names_and_aliases_for_readers_of_foreign_files(metric):
    assert resolve_metric(metric.name) is metric
    assert [resolve_metric(alias) for alias in metric.aliases] == [metric] * len(metric.aliases)


def test_it_names_the_metric_where_an_alias_was_given():
    with pytest.raises(MetricError) as refused:
        metric_named("hbm_bandwidth")
    assert str(refused.value) == "unknown metric 'hbm_bandwidth'; accepted: memory_bandwidth"


def test_it_names_near_metrics_for_a_name_that_nobody_registered():
    with pytest.raises(MetricError, match=r"accepted: tensor_cores$"):
        resolve_metric("tensor_corse")
    with pytest.raises(MetricError, match=r"accepted: boost_clock, .*write_bandwidth"):
        resolve_metric("sparkle")
