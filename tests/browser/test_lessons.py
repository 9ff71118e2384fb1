"""A lesson from a round to its approval, without scripts. UX checks 2 and 19."""

import pytest
from playwright.sync_api import expect

from knowledge.models import Lesson

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_round_becomes_a_lesson_that_another_person_approves(enter, finished):
    """The author records it from the round and has no button to approve; a curator finds it among
    what waits, approves it, and everybody finds it under what worked.
    """
    author = enter(java_script_enabled=False)
    page = author.page
    author.open(f"/c/{finished.pk}/r/2/")
    page.click("#more > summary")
    page.click("#record-lesson")
    for name in ("takeaway", "context", "signal", "applicability"):
        page.fill(f"#lesson-{name}", f"The {name} of round 2.")
    page.click("#do-record")
    lesson = Lesson.objects.get(takeaway="The takeaway of round 2.")
    expect(page.locator("h1")).to_have_text("The takeaway of round 2.")
    expect(page.locator("#own")).to_be_visible()
    expect(page.locator("#do-approve")).to_have_count(0)
    assert lesson.evidence.get().entry.round == 2

    curator = enter("cora", java_script_enabled=False)
    page = curator.page
    curator.open("/w/review/")
    page.get_by_role("link", name="The takeaway of round 2.").click()
    page.click("#do-approve")
    lesson.refresh_from_db()
    assert (lesson.state, lesson.changes.first().by.username) == ("active", "cora")
    curator.open("/x/lessons/?q=round+2")
    expect(page.locator("#worked").get_by_text("The takeaway of round 2.")).to_be_visible()
