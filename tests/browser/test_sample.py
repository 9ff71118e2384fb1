"""The first minutes: from nothing to a comparison of the sample, and back to nothing (UX 3)."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.look import look_at_all
from tests.kept_wiki import put_wiki

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LISTS = ("campaigns", "rounds", "candidates", "evaluations", "verdicts", "events", "review")
LOADING_MS = 60_000  # a crowded host


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_new_person_compares_the_sample_and_removes_it(enter, scripts):
    put_wiki()
    seen = enter("enzo", java_script_enabled=scripts)
    page, loads, clicks = seen.page, [], []
    page.on("load", lambda _: loads.append(page.url))

    def click(selector):
        clicks.append(selector)
        page.locator(selector).click(timeout=LOADING_MS)

    def follow_primary(there):
        expect(page.locator("main .primary:visible")).to_have_count(1)
        click("main .primary:visible")
        page.wait_for_url(re.compile(there), timeout=LOADING_MS)

    seen.open("/")
    follow_primary(r"/c/\d+/$")
    expect(page.locator("h1")).to_have_text("Sample: Row softmax, cuda on NVIDIA H200 SXM")
    expect(page.locator("[data-sample]")).to_have_text("sample, recorded on an NVIDIA H200 SXM")
    follow_primary(r"/compare/1\.\.5$")
    expect(page.locator("main .primary:visible")).to_have_count(1)
    expect(page.locator("[data-versus='5'] .lead")).to_contain_text("faster")
    assert (len(clicks), len(loads)) == (2, 3)
    if scripts:
        look_at_all(seen, {"compare": page.url[len(seen.url) :], "list": "/c/"})
        page.go_back()
        del loads[3:]
    click(".crumbs a >> nth=1")
    click("#remove summary")
    click("#do-remove")
    page.wait_for_url(seen.url + "/")
    expect(page.locator(".messages")).to_contain_text("The sample is removed")
    assert len(clicks) <= 6
    assert len(loads) <= 5
    for name in LISTS:
        answer = page.request.get(f"{seen.url}/api/v1/{name}/")
        assert answer.json()["results"] == [], name
    seen.open("/c/")
    expect(page.locator("main h2")).to_have_text("No campaigns yet")
