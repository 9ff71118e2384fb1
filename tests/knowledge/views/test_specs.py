"""The list of values, and the search for them."""

from html import unescape

import pytest

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.knowledge.conftest import BANDWIDTH, TDP

CITATION = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23"


def found(viewer, **asked):
    return [spec for spec, _ in viewer.get("/w/specs/", asked).context["rows"]]


@pytest.mark.parametrize("pasted", [CITATION, f"  {CITATION}\n"])
def test_a_pasted_citation_finds_its_value_first(viewer, shipped, pasted):
    (spec, *_) = found(viewer, q=pasted)
    assert (spec.platform.slug, str(spec.citation)) == ("h200-sxm", CITATION)


def test_every_shipped_citation_finds_its_value_first(viewer, shipped):
    specs = Spec.objects.for_sheet().filter(platform__slug="mi300x")
    wrong = [s for s in specs if found(viewer, q=str(s.citation))[0].pk != s.pk]
    assert wrong == []


def test_a_citation_of_an_earlier_text_still_finds_it(viewer, wiki, page_text):
    old = str(Spec.objects.get(metric="memory_bandwidth").citation)
    text = page_text("", BANDWIDTH, TDP)
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    spec = Spec.objects.get(metric="memory_bandwidth")
    assert str(spec.citation) != old
    assert found(viewer, q=old) == [spec]


def test_a_citation_that_nobody_has_finds_nothing_and_says_so(viewer, wiki):
    answer = viewer.get("/w/specs/", {"q": CITATION.replace("L23", "L999")})
    assert answer.context["rows"] == []
    assert "No value was ever stored with this citation" in answer.content.decode()


@pytest.mark.parametrize(
    ("words", "metric"),
    [("MEMORY_BANDWIDTH", "memory_bandwidth"), ("ask them", "cuda_cores"), ("700 W", "tdp")],
)
def test_it_looks_in_metric_note_and_value(viewer, wiki, words, metric):
    assert [spec.metric for spec in found(viewer, q=words)] == [metric]


def test_it_looks_in_the_platform(viewer, wiki):
    assert len(found(viewer, q="x 1")) == len(found(viewer, q="x-1")) == 3


def test_it_finds_words_in_different_places(viewer, shipped):
    specs = found(viewer, q="h200-sxm bandwidth documented tb/s")
    assert specs == []
    specs = found(viewer, q="h200-sxm MEMORY_bandwidth")
    assert [(spec.platform.slug, spec.shown) for spec in specs] == [("h200-sxm", "4.8 TB/s")]


def test_it_ranks_documented_values_of_the_words_before_measured_ones(viewer, shipped):
    specs = found(viewer, q="Bandwidth H200")
    kinds = ["h200" not in s.platform.slug.split("-") for s in specs], [s.evidence for s in specs]
    ranked = list(zip(*kinds, strict=True))
    assert ranked == sorted(ranked)
    assert (specs[0].metric, specs[0].evidence) == ("memory_bandwidth", "documented")
    assert {spec.evidence for spec in specs if "h200" in spec.platform.slug} == {
        "documented",
        "measured",
    }


def test_a_flag_stands_on_its_row(viewer, wiki, page_text):
    text = page_text(BANDWIDTH, TDP.replace("700", "750"))
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    (spec,) = found(viewer, flag="changed")
    assert spec.shown == "700 W"
    page = viewer.get("/w/specs/", {"flag": "changed"}).content.decode()
    assert f'href="/w/s/{spec.pk}/#flag-{spec.flags.get().pk}">flag: changed</a>' in page


@pytest.mark.parametrize("q", ["é" * 60_000, "a " * 2_000])
def test_it_says_how_much_it_takes(viewer, wiki, q):
    answer = viewer.get("/w/specs/", {"q": q})
    assert answer.status_code == 400
    assert "q: accepted: up to 20 words and 500 characters" in answer.content.decode()


@pytest.mark.parametrize("asked", [{"state": "lovely"}, {"flag": "red"}, {"reviewed": "twice"}])
def test_it_says_what_it_accepts(viewer, wiki, asked):
    answer = viewer.get("/w/specs/", asked)
    ((name, typed),) = asked.items()
    assert answer.status_code == 400
    assert f"{name}: '{typed}'; accepted: " in unescape(answer.content.decode())


@pytest.mark.parametrize("q", ["\0", "%", "'; DROP TABLE", "<script>alert(1)</script>"])
def test_it_survives_any_words(viewer, wiki, q):
    answer = viewer.get("/w/specs/", {"q": q})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()


def test_it_lists_in_pages_and_keeps_the_filter(viewer, shipped):
    first = viewer.get("/w/specs/", {"state": "approved"})
    assert len(first.context["rows"]) == 50
    assert 'href="?state=approved&amp;page=2"' in first.content.decode()
    assert viewer.get("/w/specs/", {"page": "last one"}).status_code == 200


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/specs/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_number_of_values(
    viewer, shipped, django_assert_num_queries
):
    # session, user, count, specs, citations, flags, drift, newest texts
    with django_assert_num_queries(9):
        viewer.get("/w/specs/")


def test_it_says_how_many_documents_hold_the_words(viewer, shipped):
    page = viewer.get("/w/specs/", {"q": "swizzle"}).content.decode()
    assert 'href="/w/docs/?q=swizzle">' in page
    assert "these words too" in page
    assert "these words too" not in viewer.get("/w/specs/").content.decode()
