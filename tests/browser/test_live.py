"""A person watches a campaign and a sweep go on: news comes by itself and disturbs nobody."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import expect

from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import claim
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document
from tests.browser.test_review import find_the_failures
from tests.campaigns.sample import build_sample
from tests.campaigns.swept import ROUND, add_points, build_swept, search_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

POLL_MS = 3000
FOCUS = "document.activeElement.id"


@pytest.fixture
def watch(enter):
    """A visit whose clock goes on when the test says so, and then by the time between two looks."""
    seen = enter(reduced_motion="reduce")
    seen.page.clock.install()
    return seen


def test_a_campaign_is_watched_to_its_end(watch):
    """Events come without a reload, are announced once and keep focus and open disclosures.

    A changed value of the target shows its flag; nothing is asked for once the campaign is over.
    UX checks 5, 6 and 17.
    """
    running = build_sample(rounds=3, running=True)
    page = watch.page
    watch.open(f"/c/{running.pk}/")
    page.evaluate("window.first = true")

    page.locator("#chart-progress .chart-table:last-of-type summary").click()
    page.focus("#row-2")
    record(running, "note", "something <i>new</i>")
    page.clock.run_for(POLL_MS)
    page.locator("#live").get_by_text("something <i>new</i>", exact=True).wait_for()
    expect(page.locator("#events li").first).to_contain_text("something <i>new</i>")
    assert page.evaluate(FOCUS) == "row-2"
    page.focus("#chart-progress .chart-table:last-of-type summary")
    record(running, "note", "and again")
    page.clock.run_for(POLL_MS)
    page.locator("#live").get_by_text("and again").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert page.locator("#chart-progress details.chart-table:last-of-type").evaluate("d => d.open")

    change_the_target(page, running)
    assert page.evaluate("window.first") is True

    claim(Campaign.objects.filter(pk=running.pk), state="done", stop_sentence="That was all.")
    page.clock.run_for(POLL_MS)
    page.get_by_text("That was all.").wait_for()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(10 * POLL_MS)
    page.wait_for_load_state("networkidle")
    assert asked == []


def change_the_target(page, running):
    """The wiki gets another number for a pinned value: the page says so once."""
    expect(page.locator("#drift")).to_have_count(0)
    document = Document.objects.get(path="docs/hardware/h200-sxm.md")
    other = document.latest.text.replace("- memory_bandwidth: 4.8", "- memory_bandwidth: 4.9")
    take_files({document.path: other}, ImportOptions(origin=document.origin))
    page.clock.run_for(POLL_MS)
    page.locator("#wiki-news [data-pin-state=changed]").wait_for()
    page.locator("#drift [data-cite-state=changed]").first.wait_for()
    assert page.locator("#wiki-news").get_attribute("aria-live") == "polite"
    page.evaluate(
        """window.told = 0;
        new MutationObserver(() => { window.told += 1; })
          .observe(document.getElementById("wiki-news"), {childList: true, subtree: true});"""
    )
    record(running, "note", "something else")
    page.clock.run_for(POLL_MS)
    page.locator("#events").get_by_text("something else").wait_for()
    assert page.evaluate("window.told") == 0  # the same news is not told twice


def test_it_says_when_its_worker_is_silent_and_how_long_it_may_take(watch):
    """UX check 5: a range and what it rests on, "too early" under 3 rounds, and no heartbeat for a
    worker that was killed; a page that is left alone shows both.
    """
    early, running = build_sample(rounds=2, running=True), build_sample(rounds=3, running=True)
    page = watch.page
    watch.open(f"/c/{early.pk}/")
    expect(page.locator("#strip")).to_contain_text("too early to say")
    watch.open(f"/c/{running.pk}/")
    expect(page.locator("#strip")).to_contain_text(re.compile(r"about .+from the last 3 rounds; "))
    expect(page.locator("#strip")).not_to_contain_text("no heartbeat")
    killed_at = timezone.now() - timedelta(seconds=2 * settings.KOPT_LEASE_S)
    claim(Evaluation.objects.filter(state=EvaluationState.RUNNING), heartbeat_at=killed_at)
    page.clock.run_for(POLL_MS)
    expect(page.locator("#strip")).to_contain_text("no heartbeat, the last one")


def test_a_sweep_is_watched_and_its_points_are_filtered(watch):
    """New points come without a reload and keep focus and disclosures; nothing moves where a person
    asked for less motion; a choice among the points of one that is done is sent at once.
    """
    searching, done = build_swept(points=12), build_swept()
    page = watch.page
    watch.open(f"/c/{searching.pk}/r/{ROUND}/")
    page.evaluate("window.first = true")
    assert page.locator("#sweep-bar").evaluate("bar => bar.value") == 12
    page.locator("#sweep-knobs summary").click()
    page.focus("#sweep-all")
    add_points(search_in(searching), 18, first=13)
    page.clock.run_for(POLL_MS)
    page.get_by_text("30 variants screened so far").wait_for()
    assert page.locator("#sweep-bar").evaluate("bar => bar.value") == 30
    assert page.locator("#sweep-knobs details").evaluate("d => d.open")
    assert page.evaluate(FOCUS) == "sweep-all"
    assert page.evaluate("window.first") is True
    moving = "document.querySelector('#sweep').getAnimations({subtree: true}).length"
    assert page.evaluate(moving) == 0

    watch.open(f"/c/{done.pk}/r/{ROUND}/")
    page.click("#sweep-all")
    page.select_option("#f-outcome", "build_failed")
    find_the_failures(page)
