"""What a roofline needs, and what counts as an answer."""

import pytest

from knowledge.exchange.importer import import_wiki
from knowledge.lookup.needs import METRICS_NEEDED, coverage, unanswered
from knowledge.models import Platform, Spec
from knowledge.specs.metrics import METRICS
from tests.knowledge.conftest import BANDWIDTH, SOURCE

pytestmark = pytest.mark.django_db


def covered(slug="x-1"):
    platform = Platform.objects.get(slug=slug)
    return coverage([platform])[platform.pk]


def test_it_names_only_registered_metrics():
    assert set(METRICS) >= METRICS_NEEDED


def test_it_counts_the_preferred_values(wiki):
    found = covered()
    assert (found.known, found.total) == (1, 11)
    assert "memory bandwidth" not in found.missing
    assert "bfloat16 rate" in found.missing


def test_unknown_answers_nothing_and_absent_does(wiki, page_text):
    lines = (
        "- sm_count: UNKNOWN | evidence=documented | kind=vendor | source=none | how=count them",
        f"- peak_fp8_tensor_dense: NONE | {SOURCE} | note=the source prints NA",
    )
    (wiki / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH, *lines))
    import_wiki(wiki, vouched=True)
    assert "multiprocessors" in covered().missing
    assert not {"float8_e4m3fn rate", "float8_e5m2 rate"} & set(covered().missing)


def test_law_1_a_stale_value_answers_nothing(wiki, page_text):
    (wiki / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH.replace("4.8", "4.9")))
    import_wiki(wiki)
    assert "memory bandwidth" in covered().missing


def test_a_value_of_a_part_is_no_answer(wiki, page_text):
    line = f"- l2_size: 4 MiB | per=XCD | {SOURCE}"
    (wiki / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH, line))
    import_wiki(wiki, vouched=True)
    assert "second-level cache" in covered().missing


def test_retired_values_do_not_count(wiki):
    Spec.objects.filter(metric="memory_bandwidth").update(state="retired")
    assert covered().known == 0


def test_a_measured_rate_answers_for_its_dtype_alone():
    answered = [("matmul_throughput", (("dtype", "float16"),))]
    titles = [need.title for need in unanswered("gpu", answered)]
    assert "float16 rate" not in titles
    assert "bfloat16 rate" in titles


def test_a_rate_by_what_is_summed_up_in_answers_for_its_dtype(shipped):
    assert not {"float16 rate", "float8_e4m3fn rate"} & set(covered("rtx-4090").missing)


def test_it_asks_once_for_all_platforms(shipped, django_assert_num_queries):
    platforms = list(Platform.objects.all())
    with django_assert_num_queries(4):  # values, citations, flags, newest texts
        found = coverage(platforms)
    assert found[next(p.pk for p in platforms if p.slug == "mi300x")].known == 11
