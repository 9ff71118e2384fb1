"""Which value answers for a ceiling where a platform has several of one metric (R3, R4; law 1)."""

import pytest

from knowledge.exchange.importer import write_measured_document
from knowledge.lookup.value import (
    bandwidth_ceilings,
    compute_ceilings,
    find,
    higher_rivals,
    of_whole_module,
    unit_count,
)
from knowledge.models import Platform, Spec

MEASURED = "evidence=measured | kind=measured | rank=preferred | source=probe"


@pytest.fixture
def platform(wiki_of_module, db):
    return lambda slug: Platform.objects.get(slug=slug)


def shown(ceilings):
    return [c.display for c in ceilings]


def measure(slug, line):
    text = f"# M\n\n## Platform\n\n- platform: {slug}\n\n## Specs\n\n- {line} | {MEASURED}\n"
    write_measured_document(f"docs/measured/{slug}.md", text)


@pytest.mark.parametrize(
    ("slug", "dtype", "accumulate", "answer"),
    [
        ("rtx-4090", "float16", "float32", ["165.2 TFLOPS"]),
        ("rtx-4090", "float16", "float16", ["330.3 TFLOPS"]),
        ("rtx-4090", "float8_e4m3fn", "float32", ["330.3 TFLOPS"]),
        ("rtx-4090", "float8_e5m2", "float16", ["660.6 TFLOPS"]),
        ("rtx-4090", "bfloat16", "float32", ["165.2 TFLOPS"]),
        ("rtx-5090", "float16", "float32", ["209.5 TFLOPS"]),
        # Only the slower of the two is stated, and the slower one bounds nothing.
        ("rtx-5090", "float16", "float16", []),
        ("rtx-5090", "float8_e4m3fn", "float32", ["419 TFLOPS"]),
        ("rtx-5090", "float8_e4m3fn", "float16", ["838 TFLOPS"]),
        # One rate for both, by a line without the qualifier.
        ("h100-sxm5-80gb", "float16", "float16", ["989.4 TFLOPS"]),
        ("h100-sxm5-80gb", "float16", "float32", ["989.4 TFLOPS"]),
    ],
)
def test_r4_it_takes_the_peak_of_the_accumulation_that_was_asked_for(
    platform, slug, dtype, accumulate, answer
):
    assert shown(compute_ceilings(platform(slug), dtype, accumulate=accumulate)) == answer


def test_it_sums_up_in_float32_unless_told_otherwise(platform):
    assert shown(compute_ceilings(platform("rtx-4090"), "float16")) == ["165.2 TFLOPS"]


@pytest.mark.parametrize(("dtype", "bound"), [("int32", True), ("int64", True), ("uint8", False)])
def test_long_integers_are_bound_by_the_units_of_float32(platform, dtype, bound):
    known = compute_ceilings(platform("h100-sxm5-80gb"), "float32")
    assert compute_ceilings(platform("h100-sxm5-80gb"), dtype) == (known if bound else [])


def test_it_refuses_an_accumulation_that_no_peak_speaks_of(platform):
    with pytest.raises(ValueError, match="accumulate: 'int32'; accepted: float32, float16"):
        compute_ceilings(platform("rtx-4090"), "float16", accumulate="int32")


def test_it_takes_a_measured_rate_only_for_the_accumulation_it_was_measured_with(platform):
    measure("rtx-4090", "matmul_throughput: 150 TFLOPS | dtype=float16")
    card = platform("rtx-4090")
    assert shown(compute_ceilings(card, "float16")) == ["150 TFLOPS", "165.2 TFLOPS"]
    assert shown(compute_ceilings(card, "float16", accumulate="float16")) == ["330.3 TFLOPS"]
    line = "matmul_throughput: 300 TFLOPS | dtype=float16 | accumulate=float16"
    measure("rtx-4090", line)
    found = compute_ceilings(card, "float16", accumulate="float16")
    assert shown(found) == ["300 TFLOPS", "330.3 TFLOPS"]


def test_it_takes_a_measured_rate_for_both_where_the_peak_is_one(platform):
    measure("h100-sxm5-80gb", "matmul_throughput: 800 TFLOPS | dtype=float16")
    found = compute_ceilings(platform("h100-sxm5-80gb"), "float16", accumulate="float16")
    assert shown(found) == ["800 TFLOPS", "989.4 TFLOPS"]


def test_it_takes_the_burst_of_a_product_and_never_what_it_sustains(platform):
    card, line = platform("h100-sxm5-80gb"), "matmul_throughput: {} TFLOPS | dtype=bfloat16"
    measure("h100-sxm5-80gb", f"{line.format(690)} | load=sustained")
    assert shown(compute_ceilings(card, "bfloat16")) == ["989.4 TFLOPS"]
    measure("h100-sxm5-80gb", line.format(700))
    assert compute_ceilings(card, "bfloat16")[0].told == "700 TFLOPS"  # of before there were loads
    measure("h100-sxm5-80gb", f"{line.format(780)} | load=burst")
    (ceiling, *_) = compute_ceilings(card, "bfloat16")
    assert ceiling.told == "780 TFLOPS (burst)"
    assert ceiling.words == "the measured 780 TFLOPS (burst)"


@pytest.mark.parametrize("slug", ["gb200", "v100-sxm2"])
def test_law_1_float64_is_blocked_where_the_rate_of_the_matrix_units_is_unknown(platform, slug):
    assert find(platform(slug), "peak_fp64") is not None
    assert compute_ceilings(platform(slug), "float64") == []


def test_it_takes_what_one_die_has_where_a_program_sees_one_die(platform):
    module = platform("mi250x")
    assert shown(bandwidth_ceilings(module)) == ["1.6 TB/s"]
    assert shown(compute_ceilings(module, "bfloat16")) == ["191.5 TFLOPS"]
    assert unit_count(module).value == 110
    assert of_whole_module(module, bandwidth_ceilings(module)) == []


def test_it_names_what_is_stated_for_the_whole_module_only(platform):
    module = platform("mi250x")
    found = compute_ceilings(module, "float32")
    assert shown(found) == ["95.7 TFLOPS", "47.9 TFLOPS"]
    assert of_whole_module(module, found) == found


def test_it_calls_nothing_a_whole_module_where_there_are_no_parts(platform):
    card = platform("mi300x")
    assert Spec.objects.filter(platform=card, qualifiers__per="XCD").exists()
    assert of_whole_module(card, bandwidth_ceilings(card)) == []
    assert unit_count(platform("h200-sxm")).value == 132


def test_it_finds_rivals_of_the_same_question_only(platform):
    module = platform("mi250x")
    assert higher_rivals(module, bandwidth_ceilings(module)) == []
    assert "3.28 TB/s" in Spec.objects.filter(platform=module, rank="normal").values_list(
        "shown", flat=True
    )
