"""The registry: one word per thing, other spellings found but never written."""

from __future__ import annotations

import re

import pytest

from campaigns.evaluator.contract.problem_words import DTYPES as PROBLEM_DTYPES
from knowledge.exchange.importer import SHIPPED
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import FactsError, SourceKind, SpecFacts
from knowledge.specs.metrics import (
    ALIASES,
    DIMENSIONS,
    DTYPES,
    METRICS,
    QUALIFIERS,
    Group,
    MetricError,
    group_of,
    metric_named,
    resolve_metric,
)
from knowledge.specs.quantity import ACCEPTED
from knowledge.specs.reader import read_page

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


def asked(metric, **qualifiers):
    """Facts about that question; a FactsError where the metric does not take it."""
    unit = METRICS[metric].unit
    known = (EvidenceClass.MEASURED, SourceKind.MEASURED, "this device")
    return SpecFacts(metric, f"5 {unit}", *known, qualifiers=qualifiers)


def test_it_names_only_registered_qualifiers_and_uses_each():
    used = {name for metric in METRIC_LIST for name in metric.qualifiers}
    assert used == set(QUALIFIERS)


@pytest.mark.parametrize(
    ("metric", "qualifiers"),
    [
        ("peak_fp16_tensor_dense", {"accumulate": "float32"}),
        ("peak_bf16_tensor_dense", {"per": "GCD"}),
        ("peak_fp64", {"clock": "1410MHz"}),
        ("matmul_throughput", {"dtype": "float16", "accumulate": "float32"}),
        ("matmul_throughput", {"dtype": "int8", "sparsity": "2:4", "clock": "base"}),
        ("fma_throughput", {"dtype": "float64"}),
        ("copy_bandwidth", {"cache": "warm"}),
        ("read_bandwidth", {"cache": "cold", "array_bytes": "4194304"}),
        ("max_cluster_size", {"portable": "no"}),
        ("l1_scalar_cache", {"per": "2CU"}),
    ],
)
def test_a_metric_takes_its_qualifiers(metric, qualifiers):
    assert asked(metric, **qualifiers).qualifiers == qualifiers


def test_a_measured_rate_of_integers_says_its_sums_no_second_time():
    with pytest.raises(FactsError, match=r"accumulate=int32: .*; accepted: write it without"):
        asked("matmul_throughput", dtype="int8", accumulate="int32")
    assert asked("matmul_throughput", dtype="float16", accumulate="float32").qualifiers


@pytest.mark.parametrize(
    ("metric", "key", "value", "words"),
    [
        ("peak_bf16_tensor_dense", "sparsity", "2:4", "the metric peak_bf16_tensor_sparse alone"),
        ("peak_bf16_tensor_dense", "sparsity", "dense", "the metric peak_bf16_tensor_dense alone"),
        ("peak_bf16_tensor_dense", "dtype", "float8_e4m3fn", "the metric peak_fp8_tensor_dense"),
        ("peak_bf16_tensor_sparse", "dtype", "float16", "the metric peak_fp16_tensor_sparse alone"),
        ("peak_bf16_tensor_dense", "dtype", "bfloat16", "the metric peak_bf16_tensor_dense alone"),
        ("peak_bf16_tensor_dense", "dtype", "float64", "peak_fp64 or peak_fp64_tensor alone"),
        ("peak_fp8_tensor_dense", "dtype", "float6_e2m3fn", "metric peak_fp6_tensor_dense alone"),
        ("peak_bf16_tensor_dense", "dtype", "int32", "takes no dtype; accepted: accumulate, clock"),
        ("peak_fp6_tensor_dense", "sparsity", "2:4", "takes no sparsity; accepted: accumulate"),
        ("peak_bf16_tensor_dense", "cache", "warm", "takes no cache; accepted: accumulate, clock"),
        ("infinity_fabric_bandwidth", "per", "link", "the metric infinity_fabric_per_link alone"),
        ("cuda_cores", "per", "SM", "the metric cuda_cores_per_sm alone"),
        ("register_file_total", "per", "SM", "the metric register_file_per_sm alone"),
        ("warp_size", "per", "SM", "warp_size takes no per; accepted: no qualifier"),
        ("matmul_throughput", "sparsity", "dense", "sparsity='dense'; accepted: 2:4"),
        ("matmul_throughput", "dtype", "bf16", "dtype='bf16'; accepted: float64, float32"),
        ("matmul_throughput", "accumulate", "fp32", "accumulate='fp32'; accepted: float16"),
        ("matmul_throughput", "clock", "1.8GHz", "accepted: base, or MHz such as 1830MHz"),
        ("copy_bandwidth", "cache", "hot", "cache='hot'; accepted: cold, warm"),
        ("copy_bandwidth", "array_bytes", "0", "array_bytes='0'; accepted: a whole number"),
        ("copy_bandwidth", "array_bytes", "4e6", "array_bytes='4e6'; accepted: a whole number"),
        ("max_cluster_size", "portable", "true", "portable='true'; accepted: yes, no"),
        ("l2_size", "per", "xcd", "per='xcd'; accepted: GCD, XCD"),
        ("l2_size", "per", "package", "a product is one package; accepted: write it without"),
        ("l2_size", "per", "socket", "a product fills one socket; accepted: write it without"),
        ("peak_fp64", "clock", "boost", "without it; accepted: write it without"),
        ("peak_int8_tensor_dense", "accumulate", "int32", "accepted: write it without"),
        ("peak_int4_tensor_dense", "accumulate", "int32", "accepted: write it without"),
        ("peak_fp32_matrix", "accumulate", "float32", "accepted: write it without"),
        ("l2_size", "per", "1XCD", "per='1XCD'; accepted: GCD, XCD"),
    ],
)
def test_one_question_has_one_spelling(metric, key, value, words):
    with pytest.raises(FactsError) as refused:
        asked(metric, **{key: value})
    assert words in str(refused.value)
    assert refused.value.field == "qualifiers"


def test_a_share_of_nothing_is_a_value_and_a_peak_of_nothing_is_none():
    known = (EvidenceClass.MEASURED, SourceKind.MEASURED, "this device")
    assert SpecFacts("host_busy_share", "0 ratio", *known).value == 0
    with pytest.raises(MetricError, match="is negative"):
        SpecFacts("host_busy_share", "-0.1 ratio", *known)
    with pytest.raises(MetricError, match="or NONE where the source says that the part has none"):
        SpecFacts("nvlink_bandwidth", "0 GB/s", *known)


README = (SHIPPED / "README.md").read_text()


def test_the_readme_says_what_each_qualifier_takes():
    rows = [line.split(" | ") for line in README.split("\n") if re.match(r"\| `\w+` \|", line)]
    assert [row[0].strip("|` ") for row in rows] == list(QUALIFIERS)
    for row in rows:
        name = row[0].strip("|` ")
        words = re.findall(r"`([^`]+)`", row[1])
        assert all(QUALIFIERS[name].pattern.fullmatch(word) for word in words), name
        named = set(re.findall(r"`(\w+)`", row[2])) & set(METRICS)
        assert all(name in METRICS[metric].qualifiers for metric in named), name


def test_the_readme_shows_lines_that_read():
    lines = [line.strip() for line in README.split("\n") if line.startswith("    - ")]
    text = "# X\n\n## Platform\n\n- platform: x\n\n## Specs\n\n" + "\n".join(lines) + "\n"
    assert len(read_page("x.md", text).specs) == len(lines) == 6


def test_it_has_a_word_for_every_dtype_of_a_problem():
    assert set(PROBLEM_DTYPES) <= set(DTYPES)


@pytest.mark.parametrize(
    ("metric", "group"),
    [
        ("memory_bandwidth", Group.MEMORY),
        ("peak_bf16_tensor_dense", Group.PEAKS),
        ("sm_count", Group.UNITS),
        ("l2_size", Group.CACHES),
        ("max_smem_per_block", Group.CACHES),
        ("tdp", Group.LINKS),
        ("copy_bandwidth", Group.MEASURED),
        ("a_metric_of_tomorrow", Group.UNITS),
    ],
)
def test_it_puts_a_metric_into_its_part(metric, group):
    assert group_of(metric) is group


def test_no_part_stays_empty_and_no_metric_is_left_out():
    assert {group_of(name) for name in METRICS} == set(Group)
