"""What the shipped documents must hold: a campaign's answers, and where each comes from."""

from collections import defaultdict
from functools import cache

import pytest

from knowledge.exchange.importer import MEASURED, SHIPPED, read_folder
from knowledge.lookup.usage import measured_here
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings, find
from knowledge.models import Platform
from knowledge.specs.citation import CitationState, parse_citation, resolve, split_lines
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, Rank, SourceKind
from knowledge.specs.metrics import METRICS
from knowledge.specs.reader import read_page

# What a campaign asks and a document cannot answer.
GAPS = {
    "a10": {"float64", "l2_size"},
    "a100-pcie-40gb": set(),
    "a100-sxm4-80gb": set(),
    "b200": {"sm_count"},
    "b300": {"l2_size", "sm_count"},
    "gb200": {"float64", "sm_count"},
    "h100-nvl": {"l2_size", "sm_count"},
    "h100-pcie": set(),
    "h100-sxm5-80gb": set(),
    "h20": {"bandwidth", "float16", "float32", "float64", "int8", "l2_size", "sm_count"}
    | {"tfloat32"},
    "h200-sxm": set(),
    "l4": {"float64"},
    "l40s": {"float64"},
    "mi250x": {"tfloat32"},
    "mi300x": set(),
    "mi308x": {"bandwidth", "bfloat16", "float16", "float32", "float64", "int8", "l2_size"}
    | {"tfloat32"},
    "mi325x": {"float64"},
    "mi350x": {"tfloat32"},
    "mi355x": {"tfloat32"},
    "rtx-4090": {"float64", "tfloat32"},
    "rtx-5090": {"float32", "float64", "int8", "l2_size", "tfloat32"},
    "t4": {"bfloat16", "float64", "tfloat32"},
    "v100-sxm2": {"bfloat16", "float64", "int8", "tfloat32"},
}
DTYPES = ("float32", "tfloat32", "float16", "bfloat16", "float64", "int8")

# The note speaks of a half or of an inheritance, but the source itself prints the figure.
PRINTED = {
    ("b200", "peak_tf32_tensor_dense"),
    ("b300", "peak_fp4_tensor_dense"),
    ("l4", "peak_bf16_tensor_dense"),
    ("l4", "peak_fp16_tensor_dense"),
    ("l4", "peak_tf32_tensor_dense"),
    ("mi300x", "memory_bandwidth"),
}

# Sparse peaks outside 1.5 to 2.2 of the dense ones, as the vendor prints them.
UNUSUAL_SPARSE = {("b300", "peak_fp4_tensor_dense"): 18 / 14}


@cache
def pages():
    """Slug → page, of every document that introduces a platform."""
    read = [read_page(path, text) for path, text in read_folder(SHIPPED).items()]
    return {page.platform.slug: page for page in read if page.platform is not None}


def test_it_ships_one_document_for_each_platform():
    assert sorted(pages()) == sorted(GAPS)
    assert {slug: page.path for slug, page in pages().items()} == {
        slug: f"docs/hardware/{slug}.md" for slug in GAPS
    }


def test_it_lists_every_document_in_the_index():
    files = read_folder(SHIPPED)
    assert [path for path in files if path != "README.md" and path not in files["README.md"]] == []


def test_it_shows_an_example_in_the_index_that_resolves():
    files = read_folder(SHIPPED)
    example = next(line for line in split_lines(files["README.md"]) if "<- <gpu-wiki>" in line)
    citation = parse_citation(example.strip())
    spec = next(
        spec
        for spec in read_page(citation.path, files[citation.path]).specs
        if spec.line == citation.first_line
    )
    assert spec.citation(citation.path) == citation
    assert resolve(citation, spec.quote, files[citation.path]) is CitationState.OK


def test_it_answers_what_a_campaign_asks_or_the_gap_is_known(shipped):
    assert {slug: gaps(Platform.objects.get(slug=slug)) for slug in GAPS} == GAPS


def gaps(platform):
    """The questions of a campaign that the wiki cannot answer for this platform."""
    found = {dtype for dtype in DTYPES if not compute_ceilings(platform, dtype)}
    for metric in ("l2_size", "cu_count" if platform.vendor == "AMD" else "sm_count"):
        if find(platform, metric) is None:
            found.add(metric)
    if not bandwidth_ceilings(platform):
        found.add("bandwidth")
    return found


def test_it_never_calls_a_preliminary_or_mistaken_value_usable(shipped):
    h100 = Platform.objects.get(slug="h100-sxm5-80gb")
    ranks = dict(h100.specs.filter(metric="peak_fp32").values_list("shown", "rank"))
    assert ranks == {
        "66.9 TFLOPS": "preferred",
        "67 TFLOPS": "normal",
        "60 TFLOPS": "deprecated",
        "19.5 TFLOPS": "deprecated",
        "494 TFLOPS": "deprecated",
    }


def test_it_gives_a_source_for_each_line():
    for path, text in read_folder(SHIPPED).items():
        for spec in read_page(path, text).specs:
            facts = spec.facts
            ours = path.startswith(MEASURED) and facts.evidence == EvidenceClass.MEASURED
            told = facts.source_url or "not recorded" in facts.source or not facts.known
            assert told or ours, spec.quote


def test_it_ships_what_one_h200_reached(shipped):
    h200 = Platform.objects.get(slug="h200-sxm")
    bandwidth, *_ = bandwidth_ceilings(h200)
    assert (bandwidth.metric, bandwidth.evidence) == ("copy_bandwidth", EvidenceClass.MEASURED)
    assert 0.85 < bandwidth.value / find(h200, "memory_bandwidth").value < 1
    assert not measured_here(h200, ["copy_bandwidth"])


@pytest.mark.parametrize("slug", GAPS)
def test_it_keeps_every_value_in_the_plausible_range_with_room_to_spare(slug):
    for spec in pages()[slug].specs:
        value, metric = spec.facts.value, METRICS[spec.facts.metric]
        if value is not None:
            assert metric.plausible(value / 3), spec.quote
            assert metric.plausible(value * 3), spec.quote


@pytest.mark.parametrize("slug", GAPS)
def test_it_prefers_exactly_one_answer_to_each_question(slug):
    answers = defaultdict(list)
    for spec in pages()[slug].specs:
        if spec.facts.shown != UNKNOWN_VALUE:
            answers[spec.facts.question].append(spec.facts.rank)
    counts = {question: ranks.count(Rank.PREFERRED) for question, ranks in answers.items()}
    assert set(counts.values()) == {1}, counts


def test_it_keeps_sparse_peaks_within_reach_of_dense_ones():
    unusual = {}
    compared = 0
    for slug, page in pages().items():
        preferred = {
            spec.facts.question: spec.facts.value
            for spec in page.specs
            if spec.facts.rank == Rank.PREFERRED and spec.facts.value is not None
        }
        for (metric, qualifiers), dense in preferred.items():
            sparse = preferred.get((metric.replace("_dense", "_sparse"), qualifiers))
            if metric.endswith("_dense") and sparse is not None:
                compared += 1
                if not 1.5 <= sparse / dense <= 2.2:
                    unusual[slug, metric] = sparse / dense
    assert compared >= 30
    assert unusual == pytest.approx(UNUSUAL_SPARSE)


def test_it_marks_what_was_divided_or_inherited_as_derived():
    """A halved or divided figure, and one taken over from the family, is not documented."""
    signs = ("half of the", " over 2", " over 8", "inherited", "inferred", "twice the printed")
    for page in pages().values():
        for spec in page.specs:
            facts = spec.facts
            derived = any(sign in facts.note for sign in signs) and facts.known
            if derived and (page.platform.slug, facts.metric) not in PRINTED:
                assert facts.evidence == EvidenceClass.DERIVED, spec.quote


def test_it_calls_no_data_sheet_of_nvidia_a_vendor_source():
    """None could be opened: what stands in one was read in a transcription, and says so."""
    for page in pages().values():
        for spec in page.specs:
            if "read in a" in spec.facts.source or "quoted by" in spec.facts.source:
                assert spec.facts.source_kind in (SourceKind.SECONDARY, SourceKind.TERTIARY)


def test_it_names_the_drivers_of_no_platform_twice():
    aliases = [alias for page in pages().values() for alias in page.platform.aliases]
    assert len(aliases) == len(set(aliases))


def test_it_never_writes_a_bound_as_a_value():
    """AMD's "over 1 TB/s" and NVIDIA's "2000+" and "up to 160 SMs" are bounds."""
    shown = {
        slug: {s.facts.metric: s.facts.shown for s in page.specs} for slug, page in pages().items()
    }
    assert shown["b300"]["sm_count"] == UNKNOWN_VALUE
    assert shown["mi350x"]["infinity_fabric_bandwidth"] == "1071 GB/s"
    values = {
        s.facts.shown for s in pages()["h100-pcie"].specs if s.facts.metric == "memory_bandwidth"
    }
    assert values == {"2039 GB/s", "2000 GB/s"}
