"""Recording a lesson: prefilled from a round, errors at their fields, near ones shown first."""

import re
from html import unescape

import pytest

from knowledge.experience.lessons.decide import approve_lesson
from knowledge.models import Lesson
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = pytest.mark.django_db

NEW = "/x/lessons/new/"


@pytest.fixture
def filled(entry):
    new = new_lesson()
    texts = {name: getattr(new, name) for name in ("takeaway", "context", "signal")}
    more = {"applicability": new.applicability, "evidence": str(entry.uuid)}
    return texts | more | {"op": "matmul", "strategy": "tr.num_warps", "avoid": ""}


@pytest.fixture
def author(as_, engineer):
    return as_(engineer)


def page(client, address=NEW):
    return unescape(client.get(address).content.decode())


def test_it_is_proposed(author, filled, entry, engineer):
    answer = author.post(NEW, filled)
    lesson = Lesson.objects.get()
    assert (answer.status_code, answer.url) == (302, lesson.get_absolute_url())
    assert (lesson.state, lesson.proposed_by, lesson.op) == ("proposed", engineer, "matmul")
    assert lesson.evidence.get().entry == entry


def test_a_round_fills_the_form(author):
    entry = attempt(
        "regression",
        -0.08,
        gain_low=-0.1,
        gain_high=-0.06,
        campaign=4,
        round=7,
        title="16 warps",
        change="num_warps 8 → 16",
        evidence=["occupancy 42 %"],
    )
    for address in (f"{NEW}?campaign=4&round=7", f"{NEW}?entry={entry.uuid}"):
        text = page(author, address)
        assert "16 warps\nnum_warps 8 → 16</textarea>" in text
        assert (
            "1.087× slower [1.064, 1.11] against the incumbent\noccupancy 42 %</textarea>" in text
        )
        assert f"{entry.uuid}</textarea>" in text
        assert 'name="platform" value="x-9"' in text
        assert re.search(r'name="avoid" value="1"[^>]*checked', text), "a regression is to avoid"
        assert 'href="/c/4/r/7/"' in text
    answer = author.post(
        f"{NEW}?campaign=4&round=7",
        {
            "takeaway": "Stay below 16 warps.",
            "context": "c",
            "signal": "s",
            "applicability": "a",
            "avoid": "1",
            "evidence": "https://kopt.example.org/c/4/r/7/",
        },
    )
    assert answer.status_code == 302
    lesson = Lesson.objects.get()
    assert (lesson.campaign, lesson.avoid, lesson.evidence.get().entry) == (4, True, entry)


@pytest.mark.parametrize(
    "query", ["campaign=4&round=9", "entry=" + "0" * 8 + "-0000" * 3 + "-" + "0" * 12]
)
def test_a_round_that_taught_nothing_is_told(author, query):
    assert 'id="missing"' in page(author, f"{NEW}?{query}")


@pytest.mark.parametrize(
    "query", ["entry=a%00b", "campaign=x&round=-1", "entry=", "round=٣&campaign=1"]
)
def test_a_hostile_address(author, query):
    assert author.get(f"{NEW}?{query}").status_code == 200


def test_what_is_wrong_is_told_at_its_field_and_the_rest_is_kept(author, filled):
    wrong = filled | {"takeaway": " ", "op": "matmull", "evidence": "round 7"}
    answer = author.post(NEW, wrong)
    text = unescape(answer.content.decode())
    assert answer.status_code == 422
    for name, words in {
        "takeaway": "it is empty; accepted: what to do",
        "op": "nothing is known of 'matmull'; accepted: matmul",
        "evidence": "accepted: ids of attempts, or addresses of rounds",
    }.items():
        assert re.search(rf'aria-describedby="[^"]*lesson-{name}_error"', text), name
        assert words in text
        assert f'href="#lesson-{name}"' in text
    assert "Holds for K above 1024" in text
    assert not Lesson.objects.exists()


@pytest.mark.parametrize(
    ("name", "text"), [("signal", "a\0b"), ("takeaway", "x" * 10_000), ("evidence", "٣" * 5000)]
)
def test_hostile_texts(author, filled, name, text):
    assert author.post(NEW, filled | {name: text}).status_code == 422
    assert not Lesson.objects.exists()


def test_near_ones_are_shown_before_it_is_stored(author, filled, active):
    answer = author.post(NEW, filled)
    text = answer.content.decode()
    assert (answer.status_code, "Nearly the same is recorded" in text) == (200, True)
    assert active.get_absolute_url() in text
    assert Lesson.objects.count() == 1
    assert author.post(NEW, filled | {"do": "anyway"}).status_code == 302
    assert Lesson.objects.count() == 2


def test_what_is_known_of_the_strategy_is_shown(author, active, entry):
    assert active.get_absolute_url() in page(author, f"{NEW}?entry={entry.uuid}")


def test_a_viewer_is_told_who_may(viewer, filled):
    for answer in (viewer.get(NEW), viewer.post(NEW, filled)):
        assert answer.status_code == 403
        assert "engineer, curator, lead" in answer.content.decode()
    assert not Lesson.objects.exists()


def test_its_author_edits_it(author, lesson, filled):
    address = f"/x/lessons/{lesson.uuid}/edit/"
    text = page(author, address)
    assert "Use 8 warps for tiles of 128 by 128.</textarea>" in text
    seen = re.search(r'name="seen" value="(\d+)"', text)[1]
    edit = filled | {"takeaway": "Use 8 warps.", "seen": seen, "why": "shorter"}
    assert author.post(address, edit).status_code == 302
    assert Lesson.objects.get().takeaway == "Use 8 warps."
    assert author.post(address, edit).status_code == 409, "it has changed since"
    assert author.post(address, edit | {"seen": ""}).status_code == 422, "nothing was changed"


def test_nobody_else_edits_and_not_what_is_decided(as_, lesson, curator, engineer, filled):
    address = f"/x/lessons/{lesson.uuid}/edit/"
    assert as_(curator).post(address, filled).status_code == 403
    approve_lesson(lesson, curator)
    answer = as_(engineer).post(address, filled | {"takeaway": "Other."})
    assert answer.status_code == 409
    assert "Use 8" in Lesson.objects.get().takeaway
