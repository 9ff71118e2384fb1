"""A document belongs to the origin that brought it, and some plans need a second person."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.exchange.batches import confirm, drop, undo
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import (
    ImportOptions,
    import_wiki,
    origin_of,
    take_files,
    write_measured_document,
)
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.models import Batch, Document, Flag, Platform, Spec
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, X1

pytestmark = pytest.mark.django_db

NOTE = "docs/n.md"
L2 = f"## Platform\n\n- platform: x-1\n\n## Specs\n\n- l2_size: 50 MiB | {SOURCE}\n"


def planned(person, files, name="team", *, whole=False):
    return plan_import(WikiFiles(name, files, whole=whole), person)


def outcomes(batch):
    return {row["path"]: (row["outcome"], row["note"]) for row in batch.plan["documents"]}


def test_a_plan_refuses_a_document_of_somebody_else_and_says_whose(wiki, engineer, page_text):
    batch = planned(engineer, {X1: page_text(TDP), NOTE: "# N\n"})
    assert outcomes(batch)[X1] == (
        "refused",
        f"{X1}: belongs to 'wiki'; accepted: bring it under that name; a curator who did not plan "
        "it confirms",
    )
    assert outcomes(batch)[NOTE][0] == "new"
    assert batch.plan["refused"] == 1
    assert not Flag.objects.exists()


def test_every_document_of_somebody_else_is_named_at_once(wiki, engineer):
    take_at_once(WikiFiles("notes", {f"docs/{n}.md": f"# {n}\n" for n in range(12)}))
    batch = planned(engineer, {f"docs/{n}.md": f"# {n}!\n" for n in range(12)})
    assert {outcome for outcome, _ in outcomes(batch).values()} == {"refused"}
    assert len(outcomes(batch)) == 12


@pytest.mark.parametrize("role", ["engineer", "curator"])
def test_no_person_touches_what_belongs_to_this_installation(shipped, request, role):
    person = request.getfixturevalue(role)
    path = "docs/hardware/h200-sxm.md"
    text = Document.objects.get(path=path).latest.text
    block = "## Platform\n\n- platform: h200-sxm\n\n## Specs\n\n- read_bandwidth: 4 TB/s"
    write_measured_document("docs/measured/h200-sxm.md", f"# M\n\n{block} | {SOURCE}\n")
    batch = planned(person, {path: text + "\nmore\n", "docs/measured/h200-sxm.md": "# Mine\n"})
    assert outcomes(batch)[path][0] == "refused"
    assert (
        "belongs to 'shipped'; accepted: the same text, or another path"
        in (outcomes(batch)[path][1])
    )
    assert "belongs to 'measured'" in outcomes(batch)["docs/measured/h200-sxm.md"][1]
    for name in ("shipped", "measured", "SHIPPED"):
        with pytest.raises(CurationError, match="names documents of this installation"):
            planned(person, {path: text}, name)


def test_the_same_text_of_somebody_else_is_no_change(wiki, engineer):
    batch = planned(engineer, {X1: (wiki / X1).read_text()})
    assert outcomes(batch)[X1][0] == "unchanged"


def test_a_command_leaves_documents_of_another_folder_alone_too(wiki, page_text):
    with pytest.raises(ImportRefused, match=f"^{X1}: belongs to 'wiki'"):
        take_at_once(WikiFiles("team", {X1: page_text(TDP)}))
    assert Document.objects.get(path=X1).latest.number == 1


def test_this_installation_takes_its_own_path_back(wiki, page_text):
    take_files({X1: page_text(TDP)}, ImportOptions(whole=False))
    assert Document.objects.get(path=X1).origin == "shipped"
    write_measured_document("docs/measured/x.md", f"# M\n\n{L2}")
    assert Document.objects.get(path="docs/measured/x.md").origin == "measured"


def test_a_withdrawn_document_is_free_once_nothing_rests_on_it(wiki, engineer, curator):
    first = planned(engineer, {NOTE: f"# N\n\n{L2}"})
    confirm(first, engineer)
    take_at_once(WikiFiles("team", {"docs/other.md": "# O\n"}))  # without the note
    assert Document.objects.get(path=NOTE).withdrawn_at is not None
    assert outcomes(planned(engineer, {NOTE: "# N\n"}, "lab"))[NOTE][0] == "refused"
    Spec.objects.filter(metric="l2_size").update(state="retired")
    batch = planned(engineer, {NOTE: "# N\n"}, "lab")
    assert outcomes(batch)[NOTE][0] == "back"
    confirm(batch, engineer)
    assert Document.objects.get(path=NOTE).origin == "lab"


def test_a_curator_confirms_a_plan_under_the_name_of_another(wiki, curator, second_curator):
    """Its author does not, however much they may review otherwise."""
    batch = planned(curator, {"README.md": "# Index\n"}, "wiki", whole=True)
    assert outcomes(batch)[X1][0] == "withdrawn"
    with pytest.raises(Forbidden, match=r"documents of 'wiki' were brought in by a command: a cur"):
        confirm(batch, curator)
    confirm(batch, second_curator)
    batch.refresh_from_db()
    assert (batch.author, batch.plan["decided_by"]) == (curator, "carl")


def test_an_author_comes_again_under_a_name_of_their_own(wiki, engineer, curator, second_curator):
    confirm(planned(engineer, {NOTE: "# N\n"}), engineer)
    confirm(planned(engineer, {NOTE: "# N!\n"}), engineer)
    other = planned(curator, {NOTE: "# N?\n"})
    with pytest.raises(Forbidden, match="'team' were brought in by enzo"):
        confirm(other, curator)
    confirm(other, second_curator)
    # Now it is not theirs alone any more.
    with pytest.raises(Forbidden, match="'team' were brought in by cora"):
        confirm(planned(engineer, {NOTE: "# N.\n"}), engineer)


def test_a_new_platform_needs_a_second_person(wiki, curator, second_curator, page_text):
    text = page_text(TDP).replace("x-1", "y-1").replace("Maker X 1; X1", "NVIDIA H200")
    batch = planned(curator, {NOTE: text})
    with pytest.raises(Forbidden, match="it introduces y-1: a curator other than its author"):
        confirm(batch, curator)
    assert not Platform.objects.filter(slug="y-1").exists()
    confirm(batch, second_curator)
    assert Platform.objects.get(slug="y-1").aliases == ["NVIDIA H200"]


def test_a_plan_for_other_words_about_a_platform_is_too_old(wiki, engineer, curator, page_text):
    batch = planned(engineer, {NOTE: page_text(f"- l2_size: 50 MiB | {SOURCE}")})
    assert batch.plan["platforms"] == []
    (wiki / X1).write_text((wiki / X1).read_text().replace("sm_1", "sm_2"))
    import_wiki(wiki)
    with pytest.raises(Conflict, match="platform x-1 changed since this plan was made"):
        confirm(batch, curator)
    assert Platform.objects.get().target == "sm_2"


def test_an_undo_takes_no_driver_name_from_another_platform(wiki, curator, page_text):
    text = (wiki / X1).read_text()
    batch, _ = take_at_once(WikiFiles("wiki", {X1: text.replace("; X1", "")}, whole=False))
    taker = page_text(TDP).replace("x-1", "y-1").replace("Maker X 1; X1", "X1")
    take_at_once(WikiFiles("team", {NOTE: taker}))
    with pytest.raises(Conflict, match="drivers report 'X1' of y-1 now"):
        undo(batch, curator, "no")
    assert Platform.objects.get(slug="x-1").aliases == ["Maker X 1"]


@pytest.mark.parametrize("name", ["shipped", "Measured"])
def test_no_other_folder_takes_the_name_of_this_installation(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ImportRefused, match="names documents of this installation"):
        origin_of(tmp_path / name)


UNSTORABLE = [
    ("a\0b", "it holds a NUL character; accepted: text without"),
    ("a\ud800b", "it is not Unicode text; accepted: UTF-8"),
]


@pytest.mark.parametrize(
    ("name", "message"), [*UNSTORABLE, ("n" * 81, "81 characters; accepted: at most 80")]
)
def test_a_name_that_cannot_be_stored_is_refused(wiki, engineer, name, message):
    with pytest.raises(CurationError, match=f"^origin: {message}"):
        planned(engineer, {NOTE: "# N\n"}, name)
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("why", "message"), [*UNSTORABLE, ("w" * 301, "301 characters; accepted: at most 300")]
)
def test_a_reason_that_cannot_be_stored_is_refused(wiki, engineer, curator, why, message):
    batch = planned(engineer, {NOTE: "# N\n"})
    with pytest.raises(CurationError, match=f"^why: {message}"):
        drop(batch, engineer, why)
    confirm(batch, engineer)
    with pytest.raises(CurationError, match=f"^why: {message}"):
        undo(batch, curator, why)
    assert Document.objects.get(path=NOTE).withdrawn_at is None


def test_a_changed_line_of_an_own_document_still_waits_for_a_review(wiki, engineer, page_text):
    confirm(planned(engineer, {NOTE: f"# N\n\n{L2}"}), engineer)
    assert Spec.objects.get(metric="l2_size").state == "proposed"
    assert BANDWIDTH not in Document.objects.get(path=NOTE).latest.text
