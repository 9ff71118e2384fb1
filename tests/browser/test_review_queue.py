"""A reviewer works through the queue with keys alone, and with a pen where there are no scripts."""

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from campaigns.models import ReviewDecision
from knowledge.models import Comment
from tests.browser.conftest import ROLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Keys:
    """Presses keys, and counts those that are not typed text."""

    def __init__(self, page):
        self.page, self.count, self.used = page, 0, set()

    def press(self, *names):
        for name in names:
            self.page.keyboard.press(name)
            self.count += 1
            self.used |= {*name.replace("Control", "Ctrl").split("+")}

    def type(self, text):
        self.page.keyboard.type(text)


def test_a_reviewer_decides_by_keys_alone(enter, finished):
    """Open, next round, diff, a comment on a line, return with a reason, undo: UX checks 7 and 25.

    Keys are inert while somebody types; 25 presses at most, typed text left out. `?` lists them
    all, and a person can switch them off.
    """
    assert ROLES["enzo"] == "engineer"
    seen = enter("enzo")
    page, keys = seen.page, Keys(seen.page)
    seen.open("/review/?kind=round")
    expect(page.locator("nav .count")).to_be_visible()
    keys.press("j", "j", "k", "Enter")
    page.wait_for_url("**/r/2/?queue=round")
    keys.press("a")
    page.wait_for_url("**/r/6/?queue=round")
    expect(page.locator("#toast")).to_contain_text("Round 2")
    keys.press("u")
    page.wait_for_url("**/r/2/")
    assert [row.word for row in ReviewDecision.objects.all()] == ["approved", "undone"]

    keys.press("j")
    page.wait_for_url("**/r/3/")
    keys.press("d")
    page.wait_for_url("**/r/3/diff")
    keys.press("j", "c")
    page.wait_for_url("**comment=*")
    expect(page.locator("textarea:focus")).to_be_visible()
    keys.type("a join ark: does it spill?")
    keys.press("Control+Enter")
    page.wait_for_url("**#comment-*")
    expect(page.locator("article.said:target")).to_contain_text("does it spill?")

    keys.press("r")
    keys.type("say why the block is larger")
    keys.press("Enter")
    page.wait_for_url("**/r/3/")
    expect(page.locator("#decide")).to_contain_text("Returned to its author")
    assert keys.count <= 25
    made = ReviewDecision.objects.last()
    assert (made.word, made.reason) == ("returned", "say why the block is larger")
    assert Comment.objects.get().text == "a join ark: does it spill?"
    page.keyboard.press("?")
    page.wait_for_url("**/shortcuts/")
    assert keys.used <= set(page.locator("kbd").all_inner_texts())
    seen.open("/me/")
    page.click("#keys-off")
    seen.open(f"/c/{finished.pk}/r/3/")
    page.keyboard.press("?")
    page.keyboard.press("j")
    assert page.url.endswith("/r/3/")


def test_a_reviewer_without_scripts_approves_returns_and_takes_it_back(enter, finished):
    """On a phone, by real links and forms: UX checks 2 and 24."""
    user = User.objects.create(username="carl")
    user.groups.add(Group.objects.get(name="curator"))
    seen = enter("carl", java_script_enabled=False, viewport={"width": 375, "height": 812})
    page = seen.page
    seen.open("/review/?kind=round")
    page.click("#start")
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url("**/r/6/**")
    page.fill("#decide-reason", "the tail is not tested")
    page.get_by_role("button", name="Return", exact=True).click()
    page.wait_for_url("**/r/9/**")
    page.click("#undo")
    expect(page.locator(".message")).to_contain_text("Taken back")
    page.fill("#say-all", "Good @kopt")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator("article.said")).to_contain_text("@kopt")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
