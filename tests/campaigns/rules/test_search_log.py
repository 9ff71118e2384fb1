"""Where an idea was looked for: what a step may be, and that the web tells no specs (R35)."""

from __future__ import annotations

import pytest

from campaigns.rules.search_log import SearchLogRefused, SearchSource, SearchStep, read_search_log
from knowledge.specs.spellings import metric_named_in


def test_r35_steps_keep_their_order_as_text_or_by_name():
    said = (
        "wiki | bank conflicts | pad rows | or swizzle",
        "  ",
        {"source": "web", "query": "online\nsoftmax", "found": ""},
        "reference | softmax",
    )
    assert read_search_log(said) == (
        SearchStep(SearchSource.WIKI, "bank conflicts", "pad rows | or swizzle"),
        SearchStep(SearchSource.WEB, "online softmax", "nothing"),
        SearchStep(SearchSource.REFERENCE, "softmax", "nothing"),
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["blog | softmax | x"], "source: 'blog'; accepted: wiki, reference, web, profile"),
        (["wiki"], "step 1, query: is needed"),
        (["wiki | a", f"wiki | {'x' * 301}"], "step 2, query: accepted: at most 300 characters"),
        ([f"wiki | x | {'y' * 1001}"], "found: accepted: at most 1000 characters"),
        (["wiki | x"] * 21, "21 steps; accepted: at most 20"),
        ([7], "step 1: 7; accepted: source | query | found"),
        ([{"source": "wiki", "query": ["x"]}], "query: ['x']; accepted: text"),
        ([{"source": "wiki", "query": "x", "url": "y"}], "accepted: source | query | found"),
        (["web | H200 memory bandwidth"], "asks the web for memory_bandwidth; specs come from"),
        (["web | what is fast | it has 132 SMs"], "specs come from the wiki"),
    ],
)
def test_r35_it_names_what_is_wrong_and_what_is_accepted(said, told):
    with pytest.raises(SearchLogRefused) as refused:
        read_search_log(said)
    assert told in str(refused.value)


def test_r35_specs_may_be_asked_of_the_wiki():
    assert read_search_log(["wiki | memory_bandwidth of the H200 | 4.8 TB/s"])


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("use tensor cores for the product", ""),
        ("528 tensor cores", "tensor_cores"),
        ("the sm_count of an H200", "sm_count"),
        ("Peak BF16 TFLOPS", "peak_bf16"),
        ("warp size", "warp_size"),
        ("tile 128 x 128 with 8 warps", ""),
        ("shared memory bank conflicts", ""),
    ],
)
def test_a_metric_is_found_by_its_name_in_words_too(text, metric):
    assert metric_named_in(text) == metric
