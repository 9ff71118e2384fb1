"""How citations stand against the newest text."""

import pytest

from knowledge.exchange.importer import import_wiki
from knowledge.lookup.standing import standings
from knowledge.models import Document, Spec
from knowledge.specs.citation import CitationState
from tests.knowledge.conftest import BANDWIDTH, TDP

X1 = "docs/hardware/x-1.md"


def found():
    specs = list(Spec.objects.for_sheet())
    states = standings(specs)
    return {spec.metric: states.get(spec.pk) for spec in specs if spec.state == "approved"}


def test_it_is_well_after_an_import(wiki):
    assert set(found().values()) == {CitationState.OK}


def test_it_says_what_a_changed_text_did_to_each(wiki, page_text):
    (wiki / X1).write_text(page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP))
    import_wiki(wiki)
    assert found() == {
        "memory_bandwidth": CitationState.CHANGED,
        "tdp": CitationState.MOVED,
        "cuda_cores": CitationState.LOST,
    }


def test_it_misses_a_withdrawn_document(wiki):
    (wiki / X1).unlink()
    import_wiki(wiki)
    assert set(found().values()) == {CitationState.SOURCE_MISSING}


def test_it_sees_a_withdrawn_document_without_a_flag(wiki):
    Document.objects.filter(path=X1).update(withdrawn_at="2026-01-01T00:00Z")
    assert set(found().values()) == {CitationState.SOURCE_MISSING}


def test_it_needs_the_same_queries_for_any_number(shipped, django_assert_num_queries):
    specs = list(Spec.objects.for_sheet())
    assert len(specs) > 100
    with django_assert_num_queries(2):  # flags, newest texts
        standings(specs)


@pytest.mark.django_db
def test_it_says_nothing_of_what_has_no_citation(wiki):
    spec = Spec.objects.get(metric="tdp")
    spec.pk = None
    spec.rank = "normal"
    spec.save()
    assert standings(list(Spec.objects.for_sheet().filter(pk=spec.pk))) == {}
