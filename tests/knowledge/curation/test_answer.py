"""Whoever changed a document does not say that its citations still hold; somebody else does."""

import pytest

from knowledge.curation.answer import recite
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines
from knowledge.curation.review import approve, retire
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Citation, Document, Flag, Spec, SpecState
from tests.knowledge.conftest import BANDWIDTH, TDP, X1

pytestmark = pytest.mark.django_db


@pytest.fixture
def edited(wiki, page_text, curator):
    """A curator brings in a text with another bandwidth; the flag that this raises."""
    text = page_text(BANDWIDTH.replace("4.8", "4.9"), TDP, "", "It was 4.8 TB/s before.")
    readme = (wiki / "README.md").read_text()
    take_files({X1: text, "README.md": readme}, ImportOptions(origin="wiki", by=curator))
    return Flag.objects.open().get(kind="changed")


def test_the_flag_waits_for_somebody_else(edited, curator, second_curator):
    newest = Document.objects.get(path=X1).latest
    with pytest.raises(Forbidden, match="you changed the document"):
        recite(edited, CitedLines(newest, 18, 18), curator, "still there")
    with pytest.raises(CurationError, match="does not stand in the quoted lines"):
        recite(edited, CitedLines(newest, 15, 15), second_curator, "here")
    recite(edited, CitedLines(newest, 18, 18), second_curator, "still there")
    spec = Spec.objects.get(shown="4.8 TB/s")
    assert str(spec.citation).endswith("x-1.md:L18")
    assert spec.state == SpecState.APPROVED
    assert (edited.answer, edited.answered_by) == ("recited", second_curator)


def test_the_second_of_two_answers_stores_nothing(edited, second_curator, third_curator):
    newest = Document.objects.get(path=X1).latest
    stale = Flag.objects.get(pk=edited.pk)
    recite(edited, CitedLines(newest, 18, 18), second_curator, "still there")
    before = Citation.objects.count()
    with pytest.raises(Conflict, match="answered by carl"):
        recite(stale, CitedLines(newest, 18, 18), third_curator, "here")
    assert Citation.objects.count() == before


def test_approving_the_new_line_answers_the_flag(edited, curator, second_curator):
    new = Spec.objects.get(shown="4.9 TB/s")
    with pytest.raises(Forbidden):
        approve(new, curator)
    approve(new, second_curator, "the sheet was revised")
    edited.refresh_from_db()
    assert (edited.answer, edited.answered_by) == ("replaced", second_curator)
    assert Spec.objects.preferred().get(metric="memory_bandwidth") == new


def test_a_viewer_answers_nothing(edited, viewer):
    newest = Document.objects.get(path=X1).latest
    with pytest.raises(Forbidden, match="curator or lead"):
        recite(edited, CitedLines(newest, 18, 18), viewer, "")


def test_who_changed_the_document_does_not_retire_its_value_either(edited, curator):
    with pytest.raises(Forbidden, match="you changed the document"):
        retire(edited.spec, curator, "it changed")
    assert Flag.objects.open().filter(pk=edited.pk).exists()


def test_a_later_text_of_somebody_else_frees_nobody(edited, curator, engineer):
    newest = Document.objects.get(path=X1).latest
    take_files(
        {X1: newest.text + "A remark.\n"}, ImportOptions(origin="wiki", by=engineer, whole=False)
    )
    newest = Document.objects.get(path=X1).latest
    with pytest.raises(Forbidden, match="you changed the document"):
        recite(Flag.objects.get(pk=edited.pk), CitedLines(newest, 18, 18), curator, "still there")
