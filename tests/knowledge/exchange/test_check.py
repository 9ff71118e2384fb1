"""Every citation is checked, and one changed digit turns exactly its own citation red."""

import re
from dataclasses import dataclass
from functools import cache

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.curation.answer import recite
from knowledge.curation.errors import Conflict
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, retire
from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import (
    SHIPPED,
    ImportOptions,
    import_wiki,
    read_folder,
    take_files,
    write_measured_document,
)
from knowledge.lookup.standing import standings
from knowledge.models import Document, Flag, Platform, Revision, Spec
from knowledge.specs.citation import CitationState, resolve, split_lines
from knowledge.specs.reader import SpecLine, read_page
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, UNKNOWN_CORES, facts

X1 = "docs/hardware/x-1.md"


@pytest.mark.django_db
def test_it_finds_every_shipped_citation_in_order(shipped):
    assert shipped.specs_added > 1000
    assert check_wiki() == []


def test_it_is_content_with_a_folder_just_imported(wiki):
    assert check_wiki(wiki) == []


def test_it_turns_exactly_the_changed_line_red(wiki, page_text):
    (wiki / X1).write_text(page_text(BANDWIDTH.replace("4.8", "4.9"), TDP, UNKNOWN_CORES))
    problems = check_wiki(wiki)
    assert [(p.place, p.state) for p in problems] == [
        (X1, "not imported"),
        (f"{X1}:L15", "changed"),
    ]
    assert "memory_bandwidth: 4.8 TB/s" in problems[1].message
    import_wiki(wiki)
    assert [(p.place, p.state) for p in check_wiki(wiki)] == [(f"{X1}:L15", "changed")]
    import_wiki(wiki, vouched=True)
    assert check_wiki(wiki) == []


def test_it_says_what_the_import_says_of_a_document_about_another_product(wiki):
    path = wiki / X1
    path.write_text(
        path.read_text().replace("platform: x-1", "platform: x-2").replace("X 1; X", "Y")
    )
    told = [p for p in check_wiki(wiki) if p.state == "changed"]
    assert [p.place for p in told] == [f"{X1}:L15", f"{X1}:L16", f"{X1}:L17"]
    assert "the document speaks of x-2 now" in told[0].message
    import_wiki(wiki)
    assert [p.place for p in check_wiki(wiki)] == [p.place for p in told]


def test_it_names_a_file_that_the_import_would_refuse(wiki, page_text):
    (wiki / X1).write_text(page_text("- tdp: 700 W"))
    states = [p.state for p in check_wiki(wiki) if p.place == X1]
    assert sorted(states) == ["not imported", "unreadable"]


PLAIN = "docs/plain.md"
PEAKS = "# X 1\n\nDense:\n\n| type | TFLOPS |\n|---|--:|\n| bf16 | 989 |\n"


@pytest.fixture
def peak(wiki):
    """An approved value on a row of a table in a plain document, which states 989."""
    take_files({PLAIN: PEAKS}, ImportOptions(origin="plain"))
    fact = facts("989 TFLOPS", metric="peak_bf16_tensor_dense")
    place = CitedLines(Document.objects.get(path=PLAIN).latest, 7, 7)
    x1 = Platform.objects.get(slug="x-1")
    return approve(propose(x1, fact, place, None, "read"), None)


def plain_states(folder):
    return [(p.place, p.state) for p in check_wiki(folder) if p.place.startswith(PLAIN)]


@pytest.mark.parametrize("other", [("Dense", "Sparse"), ("TFLOPS", "PFLOPS"), ("# X 1", "# X 2")])
def test_it_shows_a_row_that_means_another_thing_now_before_and_after_the_import(peak, wiki, other):
    folder = wiki.parent / "plain"
    (folder / "docs").mkdir(parents=True)
    (folder / PLAIN).write_text(PEAKS)
    assert plain_states(folder) == []
    (folder / PLAIN).write_text(PEAKS.replace(*other))
    changed = (f"{PLAIN}:L7", "changed")
    assert plain_states(folder) == [(PLAIN, "not imported"), changed]
    import_wiki(folder)
    assert plain_states(folder) == [changed]
    assert standings(Spec.objects.for_sheet().filter(pk=peak.pk)) == {peak.pk: "changed"}
    (folder / PLAIN).write_text("\n" + PEAKS)
    import_wiki(folder)
    assert plain_states(folder) == []
    assert standings(Spec.objects.for_sheet().filter(pk=peak.pk)) == {peak.pk: "moved"}


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (PEAKS.replace("Dense", "Sparse"), "changed"),
        (PEAKS.replace("989", "990"), "changed"),
        (f"\n{PEAKS}", "moved"),
        (PEAKS + "more\n", "ok"),
    ],
)
def test_it_judges_what_no_import_followed_or_flagged_as_an_import_would(peak, wiki, now, state):
    retire(Spec.objects.get(pk=peak.pk), None, "for a while")
    take_files({PLAIN: now}, ImportOptions(origin="plain"))
    # As `restore` of an earlier version left it: it did not look at the text.
    Spec.objects.filter(pk=peak.pk).update(state="proposed")
    back = Spec.objects.get(pk=peak.pk)
    listed = list(Spec.objects.for_sheet().filter(pk=peak.pk))
    assert standings(listed) == {peak.pk: state}
    assert plain_states(wiki) == ([(f"{PLAIN}:L7", "changed")] if state == "changed" else [])
    if state == "changed":
        with pytest.raises(Conflict, match="does not hold in the newest text"):
            approve(back, None)
    else:
        assert approve(back, None).state == "approved"


def test_it_does_not_call_moved_what_a_person_cited_on_other_lines(peak):
    take_files({PLAIN: "\n" + PEAKS.replace("Dense", "All of it")}, ImportOptions(origin="plain"))
    newest = Document.objects.get(path=PLAIN).latest
    recite(
        Flag.objects.open().get(spec=peak), CitedLines(newest, 8, 8), None, "it still says dense"
    )
    assert standings(Spec.objects.for_sheet().filter(pk=peak.pk)) == {peak.pk: "ok"}


def test_it_does_not_hold_the_files_to_retired_values(wiki, page_text):
    Spec.objects.filter(metric="tdp").update(state="retired")
    (wiki / X1).write_text(page_text(BANDWIDTH, TDP.replace("700", "650"), UNKNOWN_CORES))
    assert [p.state for p in check_wiki(wiki)] == ["not imported"]


def test_it_calls_lines_beyond_the_end_lost(wiki, page_text):
    (wiki / X1).write_text(page_text(BANDWIDTH))
    lost = [p for p in check_wiki(wiki) if p.state == CitationState.LOST]
    assert [p.place for p in lost] == [f"{X1}:L16", f"{X1}:L17"]


def test_it_says_when_a_file_is_gone(wiki):
    (wiki / X1).unlink()
    assert {p.state for p in check_wiki(wiki)} == {"source_missing"}
    assert len(check_wiki(wiki)) == 4


def test_it_names_files_that_nobody_imported(wiki):
    (wiki / "docs/new.md").write_text("# New\n")
    assert [str(p) for p in check_wiki(wiki)] == [
        "docs/new.md: not imported: run `.venv/bin/python manage.py wiki import`"
    ]


def test_it_does_not_ask_measured_documents_for_a_file(wiki):
    line = SOURCE.replace("documented", "measured").replace("=vendor", "=measured")
    text = (
        f"# M\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n- copy_bandwidth: 4 TB/s | {line}\n"
    )
    write_measured_document("docs/measured/x-1.md", text)
    assert check_wiki(wiki) == []


@pytest.mark.django_db
def test_it_sees_a_revision_that_lost_its_hash(wiki):
    document = Document.objects.get(path=X1)
    forged = document.latest.text.replace("4.8 TB/s", "9.9 TB/s")
    # The only way past the triggers: a row that was stored wrong to begin with.
    Revision.objects.create(document=document, number=2, sha256="0" * 64, text=forged)
    states = {problem.state for problem in check_wiki(wiki)}
    assert states == {"corrupt", "changed", "not imported"}


def test_it_sees_a_value_that_its_quote_does_not_hold(wiki):
    true = Spec.objects.get(metric="tdp")
    cited = true.citation
    true.pk, true.shown, true.value, true.rank = None, "650 W", 650, "normal"
    true.save()
    cited.pk, cited.spec = None, true
    cited.save()
    problems = check_wiki(wiki)
    assert {(p.place, p.state) for p in problems} == {(f"{X1}:L16", "changed")}
    assert any("in its own revision" in p.message for p in problems)


@dataclass(frozen=True)
class Shipped:
    path: str
    text: str
    specs: tuple[SpecLine, ...]
    digits: tuple[int, ...]


@cache
def shipped_pages():
    pages = (
        Shipped(
            path,
            text,
            read_page(path, text).specs,
            tuple(found.start() for found in re.finditer(r"\d", text)),
        )
        for path, text in sorted(read_folder(SHIPPED).items())
    )
    return [page for page in pages if page.specs]


@settings(deadline=None)  # the first case reads the whole wiki
@given(st.data())
def test_it_turns_exactly_one_citation_red_for_any_changed_digit(data):
    page = data.draw(st.sampled_from(shipped_pages()))
    place = data.draw(st.sampled_from(page.digits))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != page.text[place]]))
    text = page.text[:place] + digit + page.text[place + 1 :]
    changed = page.text[:place].count("\n") + 1
    red = {
        spec.line
        for spec in page.specs
        if resolve(spec.citation(page.path), spec.quote, text) is not CitationState.OK
    }
    assert red == {changed} & {spec.line for spec in page.specs}


@settings(deadline=None)  # the first case reads the whole wiki
@given(st.data())
def test_it_turns_the_citations_below_a_deleted_line_red_and_no_other(data):
    page = data.draw(st.sampled_from(shipped_pages()))
    lines = split_lines(page.text)
    gone = data.draw(st.integers(1, len(lines)))
    text = "\n".join(lines[: gone - 1] + lines[gone:]) + "\n"
    green = {
        spec.line
        for spec in page.specs
        if resolve(spec.citation(page.path), spec.quote, text) is CitationState.OK
    }
    assert green == {spec.line for spec in page.specs if spec.line < gone}


def test_it_runs_on_a_database_whose_triggers_are_in_place(wiki):
    with connection.cursor() as cursor:
        table = "sqlite_master" if connection.vendor == "sqlite" else "pg_trigger"
        name = "name" if connection.vendor == "sqlite" else "tgname"
        cursor.execute(f"SELECT {name} FROM {table} WHERE {name} LIKE 'knowledge_%_frozen'")
        assert len(cursor.fetchall()) == 10
