"""A lesson from a round to its approval in a real browser, without scripts; axe on its pages."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from knowledge.experience.lessons import approve_lesson, propose_lesson
from knowledge.experience.lessons.gaps import NewGap, ask_gap
from knowledge.models import Lesson
from tests.browser.test_axe import NARROW, RULES, held_against
from tests.knowledge.conftest import person
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXTS = ("takeaway", "context", "signal", "applicability")


@pytest.fixture
def learned(site):
    """An active lesson with both sides, a disagreement and a question; page → its address."""
    enzo, cora = person("enzo", "engineer"), person("cora", "curator")
    entry = attempt(params={"num_warps": 8})
    lesson = propose_lesson(new_lesson(evidence=[str(entry.uuid)]), enzo)
    approve_lesson(lesson, cora, "seen it too")
    attempt("regression", -0.08, gain_low=-0.1, gain_high=-0.06, params={"num_warps": 8})
    waiting = new_lesson(takeaway="Never cast the sum.", avoid=True, evidence=[str(entry.uuid)])
    proposed = propose_lesson(waiting, enzo)
    ask_gap(NewGap("Does a persistent kernel pay for skinny matmuls?", query="skinny"), enzo)
    first, second = lesson.disagreements.get(), entry.disagreements.get()
    return {
        "lessons": "/x/lessons/",
        "no lesson": "/x/lessons/?q=nothing",
        "lesson": lesson.get_absolute_url(),
        "proposed": proposed.get_absolute_url(),
        "new lesson": f"/x/lessons/new/?entry={entry.uuid}",
        "gaps": "/x/gaps/?q=skinny&op=matmul",
        "disagreements": "/x/disagreements/",
        "against a lesson": first.get_absolute_url(),
        "against an attempt": second.get_absolute_url(),
        "review": "/w/review/",
    }


@pytest.mark.parametrize("width", [375, 1280])
def test_axe_holds_nothing_against_these_pages(visit, learned, width):
    """UX checks 8 and 24."""
    seen = visit(viewport={"width": width, "height": 812})
    found = []
    for name, path in learned.items():
        seen.open(path)
        found += held_against(seen.page, name, RULES if width == 1280 else NARROW)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, name
    seen.open("/x/lessons/new/")
    seen.page.click("#do-record")
    found += held_against(seen.page, "lesson refused")
    assert found == []
    assert not seen.strange


def test_a_round_becomes_a_lesson_that_another_person_approves(visit, site):
    """UX checks 2 and 19: no scripts; the author has no button to approve."""
    visited = visit(java_script_enabled=False)
    page = visited.page
    visited.open(f"/c/{site[1].pk}/r/2/")
    page.click("#record-lesson")
    for name in TEXTS:
        page.fill(f"#lesson-{name}", f"The {name} of round 2.")
    page.click("#do-record")
    lesson = Lesson.objects.get(takeaway="The takeaway of round 2.")
    expect(page.locator("h1")).to_have_text("The takeaway of round 2.")
    expect(page.locator("#own")).to_be_visible()
    expect(page.locator("#do-approve")).to_have_count(0)
    assert lesson.evidence.get().entry.round == 2
    cora = person("cora", "curator")
    page.context.add_cookies([cookie_of(cora, visited.url)])
    visited.open("/w/review/")
    page.get_by_role("link", name="The takeaway of round 2.").click()
    page.click("#do-approve")
    lesson.refresh_from_db()
    assert (lesson.state, lesson.changes.first().by) == ("active", cora)
    visited.open("/x/lessons/?q=round+2")
    expect(page.locator("#worked").get_by_text("The takeaway of round 2.")).to_be_visible()


def cookie_of(user, url):
    """The session of this person."""
    client = Client()
    client.force_login(user)
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}
