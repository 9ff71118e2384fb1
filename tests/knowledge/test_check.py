"""Every citation is checked, and one changed digit turns exactly its own citation red."""

import re
from dataclasses import dataclass
from functools import cache

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from knowledge.check import check_wiki
from knowledge.importer import SHIPPED, import_wiki, read_folder, write_measured_document
from knowledge.models import Document, Revision, Spec
from knowledge.specs.citation import CitationState, resolve, split_lines
from knowledge.specs.reader import SpecLine, read_page
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, UNKNOWN_CORES

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
        "docs/new.md: not imported: run `python manage.py wiki import`"
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
    assert states == {"corrupt", "not imported"}


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
        assert len(cursor.fetchall()) == 5
