"""What the shipped documents must hold: a campaign's answers, and where each comes from."""

import pytest

from knowledge.importer import SHIPPED, read_folder
from knowledge.lookup import bandwidth_ceilings, compute_ceilings, find
from knowledge.models import Platform
from knowledge.specs.citation import CitationState, parse_citation, resolve, split_lines
from knowledge.specs.reader import read_page

PLATFORMS = ["a100-sxm4-80gb", "h100-sxm5-80gb", "h200-sxm", "mi300x"]


def test_it_ships_one_document_for_each_platform():
    slugs = [read_page(path, text).platform_slug for path, text in read_folder(SHIPPED).items()]
    assert sorted(slug for slug in slugs if slug) == PLATFORMS


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


@pytest.mark.parametrize("slug", PLATFORMS)
def test_it_answers_what_a_campaign_asks(shipped, slug):
    platform = Platform.objects.get(slug=slug)
    assert bandwidth_ceilings(platform)[0].metric == "memory_bandwidth"
    for dtype in ("float32", "tfloat32", "float16", "bfloat16", "float64", "int8"):
        assert compute_ceilings(platform, dtype), dtype
    for metric in ("l2_size", "cu_count" if platform.vendor == "AMD" else "sm_count"):
        assert find(platform, metric).value > 0


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
            assert facts.source_url or "not recorded" in facts.source or not facts.known, spec.quote
