"""A value that comes back stands where its text stands now, or is flagged until it is recited."""

import pytest

from knowledge.curation.answer import recite
from knowledge.curation.errors import Conflict, Forbidden
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, restore, resubmit, retire
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document, Flag, Spec, SpecState
from tests.knowledge.conftest import facts

pytestmark = pytest.mark.django_db

NOTES = "docs/notes.md"


@pytest.fixture
def retired(proposal, curator):
    retire(proposal, curator, "not sure")
    return Spec.objects.get(pk=proposal.pk)


def store(text):
    files = {NOTES: text} if text is not None else {}
    take_files(files | {"docs/other.md": "# Other\n"}, ImportOptions(origin="notes"))


def newest():
    return Document.objects.get(path=NOTES).latest


def flags(spec):
    return [(f.kind, f.first_line) for f in Flag.objects.open().filter(spec=spec)]


def test_it_leaves_a_citation_alone_that_still_holds(retired, engineer, curator):
    text = newest().text
    store(text + "\nmore\n")
    restore(retired, engineer, "it was right")
    assert (flags(retired), retired.citations.count()) == ([], 1)
    approve(retired, curator)
    assert Spec.objects.get(pk=retired.pk).state == SpecState.APPROVED


def test_it_follows_a_text_that_has_moved(retired, engineer, curator):
    store(newest().text.replace("By hand.\n", "By hand.\n\nWith care.\n"))
    restore(retired, engineer, "it was right")
    cited = Spec.objects.get(pk=retired.pk).citation
    assert (flags(retired), cited.first_line, cited.revision) == ([], 7, newest())
    assert retired.changes.first().action == "cited"
    approve(retired, curator)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (("bandwidth 4.9 TB/s", "bandwidth 4.9 TB/s of it"), "changed"),
        (("bandwidth 4.9 TB/s\nfrom 4.8 to 5.1 TB/s, 5.1 kB, 5.1 GiB\n", ""), "lost"),
        (None, "source_missing"),
    ],
)
def test_it_flags_what_does_not_hold_until_a_second_person_recites_it(
    retired, engineer, curator, second_curator, change, kind
):
    store(newest().text.replace(*change) if change else None)
    restore(retired, curator, "it was right")
    ((found, _),) = flags(retired)
    assert found == kind
    with pytest.raises(Conflict, match=r"flag .* is open"):
        approve(retired, second_curator)
    take_files({"docs/new.md": "# New\n\nIt has 4.9 TB/s.\n"}, ImportOptions(origin="new"))
    place = CitedLines(Document.objects.get(path="docs/new.md").latest, 3, 3)
    flag = Flag.objects.open().get(spec=retired)
    with pytest.raises(Forbidden):
        recite(flag, place, curator, "stands here")
    recite(flag, place, second_curator, "stands here")
    approve(retired, second_curator)
    assert Spec.objects.preferred().get(metric="memory_bandwidth").pk == retired.pk


def test_it_follows_a_line_of_which_only_the_blanks_at_its_end_changed(x1, note, engineer, curator):
    spec = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "measured")
    retire(spec, curator, "not sure")
    store(note.text.replace("bandwidth 4.9 TB/s\n", "bandwidth 4.9 TB/s  \n"))
    restore(spec, engineer, "it was right")
    approve(spec, curator)


def test_its_author_does_not_bring_a_retired_value_back_without_a_look(retired, engineer):
    with pytest.raises(Conflict, match="only a returned value is proposed again"):
        resubmit(retired, engineer, "the newest")
