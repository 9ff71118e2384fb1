"""Constraints warn with both numbers, never refuse, and a waiver stays visible."""

import pytest

from knowledge.specs.cited import EvidenceClass
from knowledge.specs.constraints import (
    CONSTRAINTS,
    Fact,
    Neighbours,
    Severity,
    check_constraints,
    constraint,
)
from knowledge.specs.metrics import MetricError
from knowledge.specs.reader import read_page
from tests.architecture.source_tree import ROOT


def fact(metric, shown, **more):
    return Fact(more.pop("platform", "h200-sxm"), metric, shown, **more)


def said(subject, platform=(), siblings=()):
    """Constraint → message."""
    warnings = check_constraints(subject, Neighbours(platform, siblings))
    return {warning.constraint: warning.message for warning in warnings}


BUS = fact("memory_bus_width", "8192 bit")
RATE = fact("memory_data_rate", "5.2 Gbit/s")
CLOCK = fact("memory_clock", "2600 MHz")


def test_it_has_nothing_to_say_of_a_value_that_fits():
    known = [BUS, RATE, fact("peak_bf16_tensor_sparse", "1979 TFLOPS")]
    assert said(fact("memory_bandwidth", "5.3 TB/s"), known) == {}
    assert said(fact("peak_bf16_tensor_dense", "989 TFLOPS"), known) == {}
    assert said(fact("memory_type", "HBM3e"), known) == {}


@pytest.mark.parametrize("gap", ["UNKNOWN", "NONE"])
def test_it_has_nothing_to_say_of_a_gap(gap):
    known = [BUS, RATE, fact("memory_bandwidth", "5.3 TB/s", source="a page")]
    assert said(fact("memory_bandwidth", gap), known) == {}
    assert said(fact("memory_bandwidth", "5.3 TB/s"), [fact("memory_bus_width", gap), RATE]) == {}


def test_it_refuses_a_metric_that_nobody_registered():
    with pytest.raises(MetricError, match="memory_speed"):
        said(fact("memory_speed", "4.8 TB/s"))


def test_it_sees_a_unit_of_another_kind():
    assert said(fact("memory_bandwidth", "4.8 TFLOPS")) == {
        "unit-dimension": "4.8 TFLOPS converts to op/s, and memory_bandwidth is kept in B/s"
    }
    assert "unknown unit 'TB'" not in said(fact("memory_capacity", "1 TB"))
    assert "ambiguous" in said(fact("max_smem_per_sm", "228 KB"))["unit-dimension"]


@pytest.mark.parametrize(
    ("metric", "inside", "outside"),
    [("memory_bandwidth", "4.8 TB/s", "4.8 GB/s"), ("tdp", "700 W", "700 kW")],
)
def test_it_sees_a_value_outside_the_plausible_range(metric, inside, outside):
    assert said(fact(metric, inside)) == {}
    message = said(fact(metric, outside))["range"]
    assert message.startswith(f"{outside} is outside of what is plausible for {metric}: ")


def test_it_names_the_bounds_in_the_unit_of_the_value():
    message = said(fact("memory_bandwidth", "4.8 GB/s"))["range"]
    assert message.endswith("5 GB/s to 30000 GB/s")


@pytest.mark.parametrize(
    ("sparse", "warns"), [(1483, True), (1484, False), (2175, False), (2177, True)]
)
def test_it_compares_sparse_with_dense_of_the_same_dtype(sparse, warns):
    dense = fact("peak_bf16_tensor_dense", "989 TFLOPS")
    subject = fact("peak_bf16_tensor_sparse", f"{sparse} TFLOPS")
    other = fact("peak_fp8_tensor_dense", "3 TFLOPS")
    assert ("sparse-ratio" in said(subject, [other, dense])) is warns
    assert ("sparse-ratio" in said(dense, [other, subject])) is warns


def test_it_says_both_peaks_with_their_units():
    dense = fact("peak_fp8_tensor_dense", "1979 TFLOPS")
    message = said(dense, [fact("peak_fp8_tensor_sparse", "1.979 PFLOPS")])["sparse-ratio"]
    assert message == (
        "1.979 PFLOPS sparse is 1 times 1979 TFLOPS dense; 1.5 to 2.2 times is usual"
    )


def test_it_is_content_with_one_competing_value_that_fits():
    sparse = [fact("peak_fp8_tensor_sparse", f"{n} TFLOPS") for n in (1979, 3958)]
    assert said(fact("peak_fp8_tensor_dense", "1979 TFLOPS"), sparse) == {}


def test_it_reads_sparsity_from_a_qualifier_and_compares_like_with_like():
    dense = {"dtype": "bf16", "sparsity": "dense"}
    known = [
        fact("peak_fp32", "10 TFLOPS", qualifiers={"dtype": "fp8", "sparsity": "2:4"}),
        fact("peak_fp32", "90 TFLOPS", qualifiers={"dtype": "bf16", "sparsity": "2:4"}),
    ]
    assert (
        "3 times" in said(fact("peak_fp32", "30 TFLOPS", qualifiers=dense), known)["sparse-ratio"]
    )
    assert said(fact("peak_fp32", "45 TFLOPS", qualifiers=dense), known) == {}


@pytest.mark.parametrize("pace", [RATE, CLOCK])
@pytest.mark.parametrize(("shown", "warns"), [("5.8 TB/s", False), ("6 TB/s", True)])
def test_it_computes_bandwidth_from_the_interface(pace, shown, warns):
    subject = fact("memory_bandwidth", shown)
    assert ("bandwidth-from-clock" in said(subject, [BUS, pace])) is warns
    assert ("bandwidth-from-clock" in said(BUS, [subject, pace])) is warns
    assert ("bandwidth-from-clock" in said(pace, [BUS, subject])) is warns


def test_it_says_what_the_interface_makes():
    message = said(fact("memory_bandwidth", "8 TB/s"), [BUS, RATE])["bandwidth-from-clock"]
    assert message == (
        "8192 bit at 5.2 Gbit/s (memory_data_rate) make 5.3248 TB/s, and memory_bandwidth is 8 TB/s"
    )


def test_it_needs_the_whole_interface_and_leaves_measured_values_alone():
    assert said(fact("memory_bandwidth", "8 TB/s"), [BUS]) == {}
    measured = fact("memory_bandwidth", "3 TB/s", evidence=EvidenceClass.MEASURED)
    assert said(measured, [BUS, RATE]) == {}


SIBLINGS = [
    fact("memory_bandwidth", shown, platform=slug)
    for slug, shown in [("a", "3 TB/s"), ("b", "4 TB/s"), ("c", "2 TB/s")]
]


@pytest.mark.parametrize(
    ("shown", "warns"),
    [("1.01 TB/s", False), ("9 TB/s", False), ("9.1 TB/s", True), ("900 GB/s", True)],
)
def test_it_sees_a_value_far_from_its_siblings(shown, warns):
    assert ("sibling-outlier" in said(fact("memory_bandwidth", shown), siblings=SIBLINGS)) is warns


def test_it_counts_siblings_by_product_metric_and_qualifiers():
    subject = fact("memory_bandwidth", "15 TB/s")
    assert said(subject, siblings=SIBLINGS) == {
        "sibling-outlier": "15 TB/s is 5 times 3 TB/s, the median of 3 siblings"
    }
    twice = [*SIBLINGS[:2], SIBLINGS[1]]
    own = [*SIBLINGS[:2], fact("memory_bandwidth", "2 TB/s")]
    other = [*SIBLINGS[:2], fact("copy_bandwidth", "2 TB/s", platform="c")]
    cold = fact("memory_bandwidth", "2 TB/s", platform="c", qualifiers={"cache": "cold"})
    for siblings in (twice, own, other, [*SIBLINGS[:2], cold]):
        assert said(subject, siblings=siblings) == {}


def test_it_sees_the_same_value_from_the_same_source():
    subject = fact("memory_bandwidth", "4.8 TB/s", source="data sheet <https://x.example>")
    twin = fact("memory_bandwidth", "4800 GB/s", source="data sheet <https://x.example>")
    message = said(subject, [twin])["duplicate"]
    assert message.startswith("4.8 TB/s from data sheet")
    assert message.endswith("4800 GB/s")
    name = fact("memory_type", "HBM3", source="s")
    assert "duplicate" in said(name, [fact("memory_type", "HBM3", source="s")])
    for other in (
        fact("memory_bandwidth", "4.8 TB/s", source="another"),
        fact("memory_bandwidth", "4.9 TB/s", source=subject.source),
        fact("memory_bandwidth", "4.8 TB/s", source=subject.source, qualifiers={"per": "die"}),
    ):
        assert "duplicate" not in said(subject, [other])


@pytest.mark.parametrize(
    ("shown", "more", "warns"),
    [
        ("141 GB", {}, True),
        ("96.5 GB", {}, False),  # rounded otherwise
        ("141 GB", {"qualifiers": {"per": "GCD"}}, False),  # another question
        ("141 GB", {"evidence": EvidenceClass.MEASURED}, False),
    ],
)
def test_it_sees_a_value_that_contradicts_an_approved_one(shown, more, warns):
    approved = [fact("memory_capacity", "96 GB", source="data sheet")]
    found = said(fact("memory_capacity", shown, source="a blog", **more), approved)
    expected = "141 GB here, but 96 GB is approved, from data sheet"
    assert found.get("contradiction") == (expected if warns else None)


def test_it_sees_hedges_in_the_value_and_before_the_number_in_the_quote():
    assert said(fact("memory_type", "similar to HBM3")) == {
        "hedged": "the value 'similar to HBM3' says 'similar to'"
    }
    quoted = fact("memory_bandwidth", "4.8 TB/s", quote="bandwidth of roughly 4.8 TB/s")
    assert said(quoted) == {"hedged": "the cited text says 'roughly' of 4.8 TB/s"}
    assert said(fact("memory_bandwidth", "4.8 TB/s", quote="about 141 GB, 4.8 TB/s")) == {}


BANDWIDTH_HEAD = "NVIDIA H200\nmodel | bandwidth"


@pytest.mark.parametrize(
    ("metric", "shown", "quote", "context", "warns"),
    [
        ("memory_bandwidth", "2024 GB/s", "see page 2024", "NVIDIA H200", True),
        ("memory_bandwidth", "2024 GB/s", "see page 2024", "", True),
        ("memory_bandwidth", "2024 GB/s", "| H200 | 2024 |", BANDWIDTH_HEAD, False),
        ("memory_bandwidth", "2024 GB/s", "2024 GB", "", True),
        ("memory_bandwidth", "2024 GB/s", "2024GB/s", "", False),
        ("memory_bandwidth", "2024 GB/s", "2.024 TB/s is 2024", "", False),
        ("memory_bandwidth", "2024 GB/s", "HBM: 2024", "", False),
        ("max_smem_per_sm", "228 KiB", "228 KB", "", False),
        ("sm_count", "132 SM", "132", "GPU | Tensor", True),
        ("sm_count", "132 SM", "132", "GPU | SMs", False),
        ("sm_count", "132 SM", "132 multiprocessors", "", False),
        ("tdp", "700 W", "up to 700 watts", "", False),
        ("tdp", "700 W", "700", "Max power", False),
        ("tdp", "700 W", "in 700 shops", "", True),
        ("peak_fp8_tensor_dense", "1979 TFLOPS", "| 1979 | 3958 |", "Year | Sold", True),
        ("peak_fp8_tensor_dense", "1979 TFLOPS", "| 1979 | 3958 |", "FP8 | FP8 sparse", False),
        ("memory_type", "HBM3e", "HBM3e", "", False),
        ("memory_bandwidth", "UNKNOWN", "page 2024", "", False),
        ("memory_bandwidth", "2024 GB/s", "", "", False),
    ],
)
def test_it_sees_a_number_without_unit_and_metric(metric, shown, quote, context, warns):
    subject = fact(metric, shown, quote=quote, context=context)
    assert ("bare-number" in said(subject)) is warns


def test_it_says_which_number_is_of_nothing():
    assert said(fact("memory_bandwidth", "2024 GB/s", quote="page 2024")) == {
        "bare-number": "the cited text holds 2024 and says neither a unit of it nor "
        "memory_bandwidth"
    }


def test_it_sees_a_document_about_another_product():
    subject = fact("memory_bandwidth", "4.8 TB/s", about="h100-nvl")
    assert said(subject) == {
        "other-product": "the cited document speaks of h100-nvl, and the value is one of h200-sxm"
    }
    assert said(fact("memory_bandwidth", "4.8 TB/s", about="h200-sxm")) == {}
    assert said(fact("memory_bandwidth", "4.8 TB/s")) == {}


def test_it_silences_exactly_the_waived_warning_and_keeps_its_reason():
    subject = fact("memory_bandwidth", "4.8 GB/s", quote="~4.8 GB/s")
    plain = check_constraints(subject, Neighbours())
    assert [(w.constraint, w.waived) for w in plain] == [("range", ""), ("hedged", "")]
    waived = check_constraints(subject, Neighbours(), {"range": "an old part"})
    assert [(w.constraint, w.waived) for w in waived] == [("range", "an old part"), ("hedged", "")]
    assert [w.message for w in waived] == [w.message for w in plain]


def test_it_registers_each_constraint_once_with_words_for_people():
    assert list(CONSTRAINTS) == [
        *("unit-dimension", "range", "sparse-ratio", "bandwidth-from-clock"),
        *("sibling-outlier", "duplicate", "contradiction", "hedged", "other-product"),
        "bare-number",
    ]
    for id, each in CONSTRAINTS.items():
        assert (each.id, each.severity in Severity) == (id, True)
        assert len(id) <= 40
        assert all((each.title, each.checks, each.remedy))
    with pytest.raises(ValueError, match="registered twice"):
        constraint("range", "t", checks="c", remedy="r", severity=Severity.NORMAL)(lambda f, k: "")


def shipped():
    """(platform, arch, facts) of every value of the shipped documents."""
    root = ROOT / "knowledge" / "wiki"
    pages = [
        read_page(str(path.relative_to(root)), path.read_text("utf-8"))
        for path in sorted((root / "docs" / "hardware").glob("*.md"))
    ]
    return [
        (page.platform.slug, page.platform.arch, Fact.of(page.platform.slug, s.facts, s.quote))
        for page in pages
        if page.platform
        for s in page.specs
    ]


def test_it_warns_of_shipped_values_only_where_sources_conflict():
    every = shipped()
    odd = set()
    for slug, arch, subject in every:
        own = [f for s, _, f in every if s == slug and f is not subject]
        kin = [f for s, a, f in every if s != slug and a == arch and f.metric == subject.metric]
        odd |= {(slug, w.constraint) for w in check_constraints(subject, Neighbours(own, kin))}
    assert {rule for _, rule in odd} <= {
        *("sparse-ratio", "bandwidth-from-clock", "sibling-outlier", "contradiction")
    }
    assert ("h100-sxm5-80gb", "sparse-ratio") in odd  # one table calls the sparse figure dense
