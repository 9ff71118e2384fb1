"""Lookups answer the exact question or nothing."""

from dataclasses import replace

import pytest

from knowledge.exchange.importer import import_wiki, write_measured_document
from knowledge.lookup.value import (
    UNKNOWN,
    StaleAnswer,
    answer_to,
    bandwidth_ceilings,
    cache_bandwidth_ceilings,
    cited,
    cited_or_none,
    compute_ceilings,
    find,
    higher_rivals,
    host_busy_share,
    how_to_obtain,
    lesser_ceilings,
    platform_for_device,
)
from knowledge.models import Platform, Spec
from knowledge.specs.citation import parse_citation
from knowledge.specs.cited import Cited
from knowledge.specs.metrics import MetricError
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, X1

PEAKS = {"peak_fp64": 34, "peak_fp64_tensor": 67}
MEASURED = "evidence=measured | kind=measured | rank=preferred | source=this device"
CEILINGS = f"""# Measured on an H200

## Platform

- platform: h200-sxm

## Specs

- copy_bandwidth: 4.1 TB/s | {MEASURED}
- fma_throughput: 60 TFLOPS | dtype=float32 | {MEASURED}
- matmul_throughput: 700 TFLOPS | dtype=bfloat16 | {MEASURED}
"""


@pytest.fixture
def h200(shipped):
    """The documented values of an H200; what the shipped wiki measured on one is out of use."""
    platform = Platform.objects.get(slug="h200-sxm")
    Spec.objects.filter(platform=platform, evidence="measured").update(state="retired")
    return platform


@pytest.fixture
def ceilings(h200):
    return write_measured_document("docs/measured/h200-sxm.md", CEILINGS)


def test_it_cites_a_value_with_its_line_and_revision(h200):
    fact = cited(find(h200, "memory_bandwidth"))
    short = h200.specs.get(metric="memory_bandwidth").citation.revision.short
    assert fact == Cited(
        metric="memory_bandwidth",
        value=4.8e12,
        unit="B/s",
        evidence="documented",
        citation="memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23",
        href=f"/w/docs/docs/hardware/h200-sxm.md?rev={short}#L23",
        display="4.8 TB/s",
    )


def test_it_answers_in_a_fixed_number_of_queries(h200, django_assert_num_queries):
    with django_assert_num_queries(4):  # value, citations, flags, newest text
        cited(find(h200, "memory_bandwidth"))


def test_it_takes_only_the_preferred_of_competing_values(shipped):
    h100 = Platform.objects.get(slug="h100-sxm5-80gb")
    assert h100.specs.filter(metric="memory_bandwidth").count() == 5
    assert find(h100, "memory_bandwidth").shown == "3.35 TB/s"
    assert find(h100, "peak_fp32").shown == "66.9 TFLOPS"
    assert find(h100, "peak_bf16_tensor_dense").shown == "989.4 TFLOPS"


def test_it_never_answers_for_another_question(h200, ceilings):
    assert find(h200, "fma_throughput", dtype="float32").value == 60e12
    assert find(h200, "fma_throughput") is None
    assert find(h200, "fma_throughput", dtype="float64") is None
    assert find(h200, "memory_bandwidth", dtype="float32") is None
    assert find(h200, "peak_bf16_tensor_sparse") is None
    assert find(Platform.objects.get(slug="mi300x"), "copy_bandwidth") is None


def test_it_keeps_one_question_whatever_the_order_of_its_qualifiers(h200):
    line = f"- matmul_throughput: 9 TFLOPS | dtype=float16 | accumulate=float32 | {MEASURED}\n"
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + line)
    for order in (("dtype", "accumulate"), ("accumulate", "dtype")):
        asked = {key: {"dtype": "float16", "accumulate": "float32"}[key] for key in order}
        assert find(h200, "matmul_throughput", **asked).value == 9e12


def test_it_finds_a_value_that_was_stored_with_its_qualifiers_in_any_order(h200):
    fields = {"metric": "matmul_throughput", "value": 9e12, "unit": "op/s", "shown": "9 TFLOPS"}
    qualifiers = {"dtype": "float16", "accumulate": "float32"}
    Spec.objects.create(
        platform=h200, qualifiers=qualifiers, rank="preferred", state="approved", **fields
    )
    assert find(h200, "matmul_throughput", **qualifiers).value == 9e12


@pytest.mark.parametrize("state", ["proposed", "returned", "retired"])
def test_it_looks_up_approved_values_only(h200, state):
    Spec.objects.filter(platform=h200, metric="memory_bandwidth").update(state=state)
    assert find(h200, "memory_bandwidth") is None
    assert cited_or_none(h200, "memory_bandwidth") is None
    assert bandwidth_ceilings(h200) == []


def test_it_says_how_to_obtain_what_is_unknown(h200):
    assert find(h200, "tensor_cores") is None
    assert "vendor document" in how_to_obtain(h200, "tensor_cores")
    assert "wiki ceilings" in how_to_obtain(h200, "copy_bandwidth")
    assert "add a sourced line for lds_banks" in how_to_obtain(h200, "lds_banks")
    assert UNKNOWN == "UNKNOWN (gpu-wiki not found)"


def test_it_treats_an_absent_feature_as_no_value(shipped):
    a100 = Platform.objects.get(slug="a100-sxm4-80gb")
    assert find(a100, "peak_fp8_tensor_dense") is None
    assert compute_ceilings(a100, "float8_e4m3fn") == []


def test_it_refuses_a_metric_that_nobody_registered(h200):
    with pytest.raises(MetricError, match="unknown metric 'memory_bandwith'; accepted: memory_"):
        find(h200, "memory_bandwith")


def test_it_refuses_to_cite_a_name_as_a_number(h200):
    with pytest.raises(ValueError, match="no number with a citation"):
        cited(find(h200, "memory_type"))


def test_it_puts_the_measured_ceilings_first(h200, ceilings):
    assert [c.metric for c in bandwidth_ceilings(h200)] == ["copy_bandwidth", "memory_bandwidth"]
    assert [c.evidence for c in bandwidth_ceilings(h200)] == ["measured", "documented"]
    assert [c.metric for c in compute_ceilings(h200, "float32")] == ["fma_throughput", "peak_fp32"]
    assert [c.metric for c in compute_ceilings(h200, "bfloat16")] == [
        "matmul_throughput",
        "peak_bf16_tensor_dense",
    ]


def test_it_lists_reads_and_writes_between_the_copy_and_the_peak(h200):
    lines = f"- write_bandwidth: 4.3 TB/s | {MEASURED}\n- read_bandwidth: 4.4 TB/s | {MEASURED}\n"
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + lines)
    assert [c.display for c in bandwidth_ceilings(h200)] == [
        "4.1 TB/s",
        "4.4 TB/s",
        "4.3 TB/s",
        "4.8 TB/s",
    ]


def test_it_keeps_warm_and_sized_rates_out_of_the_plain_question(h200):
    lines = (
        f"- read_bandwidth: 9 TB/s | cache=warm | {MEASURED}\n"
        f"- copy_bandwidth: 3.9 TB/s | array_bytes=268435456 | cache=cold | {MEASURED}\n"
    )
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + lines)
    assert [c.display for c in bandwidth_ceilings(h200)] == ["4.1 TB/s", "4.8 TB/s"]
    assert [c.display for c in cache_bandwidth_ceilings(h200)] == ["9 TB/s"]
    assert find(h200, "copy_bandwidth", cache="cold", array_bytes="268435456").value == 3.9e12


def test_it_says_how_busy_the_host_was_where_that_was_measured(h200, ceilings):
    assert host_busy_share(h200) is None
    line = f"- host_busy_share: 0.25 ratio | {MEASURED}\n"
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + line)
    assert host_busy_share(h200).value == 0.25


def test_it_takes_the_measured_rate_of_the_fastest_unit_only(h200):
    slow, fast = (
        f"- fma_throughput: 30 TFLOPS | dtype=float64 | {MEASURED}\n",
        f"- matmul_throughput: 60 TFLOPS | dtype=float64 | {MEASURED}\n",
    )
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + slow)
    assert [c.metric for c in compute_ceilings(h200, "float64")] == ["peak_fp64_tensor"]
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + slow + fast)
    assert next(c.display for c in compute_ceilings(h200, "float64")) == "60 TFLOPS"


def test_law_1_nothing_slower_than_an_unknown_unit_is_a_ceiling(db):
    block = "- platform: x-1\n- name: X\n- vendor: V\n- arch: A\n- kind: gpu\n- target: sm_99"
    known = "evidence=documented | kind=vendor | rank=preferred | source=s"
    slow = f"- peak_fp64: 40 TFLOPS | {known}\n"
    fast = f"- peak_fp64_tensor: UNKNOWN | {known.replace('preferred', 'normal')} | how=ask\n"

    def ceilings(lines):
        text = f"# X\n\n## Platform\n\n{block}\n\n## Specs\n\n{lines}"
        write_measured_document("docs/measured/x-1.md", text)
        return compute_ceilings(Platform.objects.get(slug="x-1"), "float64")

    assert [c.display for c in ceilings(slow)] == ["40 TFLOPS"]
    assert ceilings(slow + fast) == []
    measured = f"- matmul_throughput: 70 TFLOPS | dtype=float64 | {MEASURED}\n"
    assert [c.display for c in ceilings(slow + fast + measured)] == ["70 TFLOPS"]


def test_it_takes_the_fastest_measured_rate_where_no_peak_is_documented(db):
    block = "- platform: x-1\n- name: X\n- vendor: V\n- arch: A\n- kind: cpu\n- target: native"
    text = (
        f"# X\n\n## Platform\n\n{block}\n\n## Specs\n\n"
        f"- fma_throughput: 400 GFLOPS | dtype=float32 | {MEASURED}\n"
        f"- matmul_throughput: 410 GFLOPS | dtype=float32 | {MEASURED}\n"
    )
    write_measured_document("docs/measured/x-1.md", text)
    found = compute_ceilings(Platform.objects.get(slug="x-1"), "float32")
    assert [c.metric for c in found] == ["matmul_throughput", "fma_throughput"]


def test_it_never_lends_tf32_to_float32(h200):
    line = f"- matmul_throughput: 400 TFLOPS | dtype=tfloat32 | {MEASURED}\n"
    write_measured_document("docs/measured/h200-sxm.md", CEILINGS + line)
    assert max(c.value for c in compute_ceilings(h200, "float32")) == 67e12
    assert [c.display for c in compute_ceilings(h200, "tfloat32")] == ["400 TFLOPS", "494.5 TFLOPS"]


def test_it_bounds_each_dtype_by_its_own_unit(h200):
    assert {d: [c.display for c in compute_ceilings(h200, d)] for d in ("float32", "tfloat32")} == {
        "float32": ["67 TFLOPS"],
        "tfloat32": ["494.5 TFLOPS"],
    }
    assert [c.metric for c in compute_ceilings(h200, "float64")] == ["peak_fp64_tensor"]
    assert compute_ceilings(h200, "complex64") == []


@pytest.fixture
def drifted(wiki, page_text):
    """Import lines in place of BANDWIDTH, TDP and an UNKNOWN; the platform of the document."""

    def change(*lines):
        (wiki / X1).write_text(page_text(*lines))
        import_wiki(wiki)
        return Platform.objects.get(slug="x-1")

    return change


def test_law_1_a_value_whose_line_changed_is_no_answer(drifted):
    x1 = drifted(BANDWIDTH.replace("4.8", "4.9"), TDP)
    assert find(x1, "memory_bandwidth") is None
    assert cited_or_none(x1, "memory_bandwidth") is None
    with pytest.raises(StaleAnswer) as caught:
        answer_to(x1, "memory_bandwidth")
    assert str(caught.value) == (
        "memory_bandwidth of x-1 was 4.8 TB/s, and the cited text has changed at "
        f"<gpu-wiki>/{X1}:L15; a curator answers at /w/review/, or "
        "`.venv/bin/python manage.py wiki import --approve` takes the documents as they are now"
    )
    assert how_to_obtain(x1, "memory_bandwidth") == str(caught.value)
    assert find(x1, "tdp").shown == "700 W"


@pytest.mark.parametrize(
    ("lines", "words"), [((TDP,), "the cited text is gone at"), ((), "the document is gone at")]
)
def test_law_1_a_value_whose_line_is_gone_is_no_answer(wiki, drifted, lines, words):
    (wiki / X1).unlink()
    import_wiki(wiki)
    x1 = drifted(*lines) if lines else Platform.objects.get(slug="x-1")
    with pytest.raises(StaleAnswer, match=words):
        answer_to(x1, "memory_bandwidth")


def test_it_answers_where_the_line_only_moved(drifted):
    x1 = drifted("", "", BANDWIDTH)
    assert answer_to(x1, "memory_bandwidth").citation.first_line == 17


def test_law_1_the_text_as_it_is_now_answers_once_it_is_approved(wiki, drifted):
    x1 = drifted(BANDWIDTH.replace("4.8", "4.9"), TDP)
    import_wiki(wiki, vouched=True)
    assert answer_to(x1, "memory_bandwidth").shown == "4.9 TB/s"


def test_law_1_no_other_value_takes_the_place_of_a_stale_ceiling(wiki, page_text):
    read = BANDWIDTH.replace("memory_bandwidth: 4.8", "read_bandwidth: 4.1")
    slow, fast = (f"- {name}: {rate} TFLOPS | {SOURCE}" for name, rate in PEAKS.items())
    for peak in (fast, fast.replace("67", "70")):
        (wiki / X1).write_text(page_text(BANDWIDTH, read, slow, peak))
        import_wiki(wiki, vouched=peak == fast)
    x1 = Platform.objects.get(slug="x-1")
    assert len(bandwidth_ceilings(x1)) == 2
    assert compute_ceilings(x1, "float64") == []
    with pytest.raises(StaleAnswer, match="peak_fp64_tensor of x-1 was 67 TFLOPS"):
        compute_ceilings(x1, "float64", strict=True)
    (wiki / X1).write_text(page_text(BANDWIDTH, read.replace("4.1", "4.0")))
    import_wiki(wiki)
    assert bandwidth_ceilings(x1) == []
    with pytest.raises(StaleAnswer, match=r"read_bandwidth of x-1 was 4\.1 TB/s"):
        bandwidth_ceilings(x1, strict=True)


def test_law_1_a_feature_whose_absence_is_stale_may_be_there(wiki, page_text):
    none = f"- peak_fp64_tensor: NONE | {SOURCE} | note=the sheet prints NA"
    slow = f"- peak_fp64: 34 TFLOPS | {SOURCE}"
    (wiki / X1).write_text(page_text(none, slow))
    import_wiki(wiki, vouched=True)
    x1 = Platform.objects.get(slug="x-1")
    assert [c.display for c in compute_ceilings(x1, "float64")] == ["34 TFLOPS"]
    (wiki / X1).write_text(page_text("", slow))
    import_wiki(wiki)
    assert compute_ceilings(x1, "float64") == []


def test_it_names_what_is_higher_than_a_disputed_value(shipped):
    b200 = Platform.objects.get(slug="b200")
    (preferred,) = [c for c in bandwidth_ceilings(b200) if c.metric == "memory_bandwidth"]
    assert preferred.display == "7.7 TB/s"
    assert {c.display for c in higher_rivals(b200, [preferred])} == {"8 TB/s"}
    measured = replace(preferred, evidence="measured")
    assert higher_rivals(b200, [measured]) == []


def test_it_knows_the_faster_units_of_lesser_precisions(h200):
    fastest, *others = lesser_ceilings(h200, "float32")
    assert (fastest.metric, fastest.display) == ("peak_fp16_tensor_dense", "989 TFLOPS")
    assert "peak_tf32_tensor_dense" in {c.metric for c in others}
    assert "peak_fp8_tensor_dense" not in {c.metric for c in others}
    assert lesser_ceilings(h200, "int8") == []


def test_it_says_why_a_question_has_no_answer(h200):
    asked = how_to_obtain(h200, "peak_bf16_tensor_dense", sparsity="2:4")
    assert asked == (
        "no value can answer this: peak_bf16_tensor_dense takes no sparsity=2:4; accepted: the "
        "metric peak_bf16_tensor_sparse alone"
    )
    assert how_to_obtain(h200, "peak_bf16_tensor_dense", per="GCD").endswith(
        "otherwise add a sourced line for peak_bf16_tensor_dense to the document of h200-sxm "
        "and import the wiki"
    )


def test_it_asks_in_the_order_in_which_qualifiers_are_stored(h200, ceilings):
    Spec.objects.create(
        platform=h200, metric="matmul_throughput", unit="op/s", shown="9 TFLOPS", value=9e12,
        qualifiers={"dtype": "uint8", "accumulate": "int32"}, rank="normal", state="proposed",
    )  # fmt: skip
    asked = {"dtype": "uint8", "accumulate": "int32"}
    for qualifiers in (asked, dict(reversed(asked.items()))):
        for platform in (h200, h200.pk):
            (found,) = Spec.objects.asking(platform, "matmul_throughput", qualifiers)
            assert found.shown == "9 TFLOPS"
    assert not Spec.objects.asking(h200, "matmul_throughput", {"dtype": "uint8"}).exists()


def test_it_recognises_a_device_by_the_exact_name_that_drivers_report(shipped):
    assert platform_for_device("NVIDIA H200").slug == "h200-sxm"
    assert platform_for_device("NVIDIA H100 80GB HBM3").slug == "h100-sxm5-80gb"
    assert platform_for_device("NVIDIA H200 NVL") is None
    assert platform_for_device("H200") is None


def test_it_cites_lines_that_parse(h200, ceilings):
    for fact in bandwidth_ceilings(h200) + compute_ceilings(h200, "bfloat16"):
        assert str(parse_citation(fact.citation)) == fact.citation


@pytest.mark.parametrize(
    ("slug", "metric", "asked", "known"),
    [
        ("rtx-4090", "peak_fp8_tensor_dense", {}, "330.3 TFLOPS with accumulate=float32"),
        ("rtx-4090", "peak_fp8_tensor_dense", {}, "660.6 TFLOPS with accumulate=float16"),
        (
            *("l40s", "peak_bf16_tensor_dense", {"accumulate": "float32"}),
            "362.05 TFLOPS with no qualifier",
        ),
    ],
)
def test_it_says_under_which_other_qualifiers_a_value_is_known(shipped, slug, metric, asked, known):
    platform = Platform.objects.get(slug=slug)
    assert find(platform, metric, **asked) is None
    how = how_to_obtain(platform, metric, **asked)
    assert how.startswith("known with other qualifiers: ")
    assert known in how
