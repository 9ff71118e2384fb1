"""The list of lessons: two columns, filters in the address, honest when nothing passes."""

import io
import re

import pandas
import pytest

from knowledge.experience.lessons.decide import approve_lesson, propose_lesson, retract_lesson
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = pytest.mark.django_db


@pytest.fixture
def both(active, engineer, curator):
    """One lesson that worked, and one on softmax that says what to avoid."""
    bad = attempt("regression", -0.2, strategy="tr.other", op="softmax")
    new = new_lesson(
        takeaway="Do not unroll the row loop.",
        avoid=True,
        evidence=[str(bad.uuid)],
        strategy="tr.other",
        op="softmax",
    )
    return active, approve_lesson(propose_lesson(new, engineer), curator)


def page(client, address="/x/lessons/"):
    answer = client.get(address)
    return answer.status_code, answer.content.decode()


def column(text, name):
    return re.search(rf'<section class="panel" id="{name}".*?</section>', text, re.DOTALL)[0]


def test_worked_and_did_not_stand_side_by_side(viewer, both):
    status, text = page(viewer)
    assert status == 200
    worked, did_not = column(text, "worked"), column(text, "did-not")
    assert "Use 8 warps" in worked
    assert "Do not unroll" in did_not
    assert "1.12× faster, no interval against the incumbent" in worked
    assert "confirmed 1 · contradicted 0" in worked
    assert "Holds for K above 1024" in worked
    assert "Record a lesson" not in text, "a viewer reads"


def test_filters_are_in_the_address(viewer, both):
    _, text = page(viewer, "/x/lessons/?op=matmul&q=WARPS")
    assert "Use 8 warps" in text
    assert "Do not unroll" not in text
    assert 'value="WARPS"' in text
    assert "<option selected>matmul</option>" in text


def test_zero_hits_say_what_was_left_out(viewer, both):
    status, text = page(viewer, "/x/lessons/?op=matmul&q=unroll")
    assert (status, "No lesson passes these filters" in text) == (200, True)
    assert text.count("1 lesson without") == 2
    assert "Use 8 warps" not in text
    assert "/x/gaps/?op=matmul&amp;q=unroll&amp;#ask" in text


def test_an_empty_list_teaches(viewer):
    _, text = page(viewer)
    assert "A lesson says in a few lines" in text
    assert 'class="cli"' in text


def test_the_retracted_are_found_and_marked(viewer, both, curator):
    retract_lesson(both[0], curator, "old")
    assert "Use 8 warps" not in page(viewer)[1]
    for state in ("retracted", "all"):
        text = page(viewer, f"/x/lessons/?state={state}")[1]
        assert 'data-state="retracted">retracted, not in use' in text


@pytest.mark.parametrize(
    ("query", "words"),
    [("state=bogus", "accepted: all, proposed, active"), ("q=" + "x" * 10_000, "at most 500")],
)
def test_what_no_filter_can_be_is_told(viewer, both, query, words):
    status, text = page(viewer, f"/x/lessons/?{query}")
    assert (status, words in text) == (400, True)


@pytest.mark.parametrize("text", ["a%00b", '"><script>', "AND OR NOT *", "%25_", "' OR 1=1", "٣"])
@pytest.mark.parametrize("name", ["q", "op", "backend", "platform", "arch", "page"])
def test_hostile_filters(viewer, both, name, text):
    status, shown = page(viewer, f"/x/lessons/?{name}={text}")
    assert status == 200
    assert "<script>" not in shown.replace('<script src="', "")


def test_as_a_table(viewer, both):
    answer = viewer.get("/x/lessons/?format=csv&op=matmul")
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert list(table.takeaway) == ["Use 8 warps for tiles of 128 by 128."]
    assert table.confirmed[0] == 1
    assert str(both[0].uuid) in list(table.uuid)


def test_many_lessons_come_in_pages(viewer, engineer, db):
    from knowledge.models import Lesson

    Lesson.objects.bulk_create(
        Lesson(**vars_of(n), state="active", avoid=n % 3 == 0) for n in range(100)
    )
    first, last = page(viewer)[1], page(viewer, "/x/lessons/?page=3")[1]
    assert "page 1 of 3" in first
    assert column(last, "worked").count("data-lesson") == 6
    assert "None on this page" in column(last, "did-not")


def vars_of(n):
    return {
        "takeaway": f"Number {n}.",
        "context": "c",
        "signal": "s",
        "applicability": "a",
        "source": "imported",
    }
