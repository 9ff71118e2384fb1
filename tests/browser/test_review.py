"""A person reviews a finished campaign, from the login to a report that leaves the house."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD
from tests.campaigns.swept import ROUND, build_swept

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

GROUND = "getComputedStyle(document.body).backgroundColor"
ADDED = "getComputedStyle(document.querySelector('tr.add .text')).backgroundColor"
CHART = "getComputedStyle(document.querySelector('.plot .tick')).fill"
# What stands out of a sheet of A4 without its margins of 15 mm, at 96 px an inch.
A4 = {"width": 680, "height": 1009}
CLIPPED = """() => [...document.querySelectorAll("table, figure, svg.plot, pre, dl")]
  .filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 120))"""
# What can be pressed and belongs to no form.
DEAD = "all => all.filter(e => !e.form).map(e => e.outerHTML)"
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(16, 21, 27)"


def test_a_reviewer_goes_from_the_login_to_a_report_on_disk(visit, finished, tmp_path):
    """Log in, filter at once, open a round and its diff, choose a theme, read source and report.

    The skip link leads to the content by keyboard; the theme follows the system until somebody
    chooses one, and reaches diffs; code scrolls no further than its longest line; the report is
    read from its file without a network. UX checks 8, 10 and 21.
    """
    seen = visit(color_scheme="light")
    page = seen.page
    seen.open("/")
    page.fill("#id_username", "kopt")
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{seen.url}/")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.select_option("#f-backend", "cuda")
    page.wait_for_url("**backend=cuda**")
    page.get_by_role("link", name=finished.title).click()
    light = page.evaluate(CHART)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(CHART) != light
    page.emulate_media(color_scheme="light")
    page.click("#row-6")
    page.locator("[data-verdict=accepted]").first.wait_for()
    page.get_by_role("link", name="Whole diff").click()
    page.locator("tr.add .text").first.wait_for()
    follow_the_theme(page)
    page.get_by_role("link", name="split", exact=True).click()
    expect(page.locator("td.text.add").first).to_be_visible()

    seen.open(f"/c/{finished.pk}/r/2/source")
    code = page.locator(".code").first
    assert code.evaluate("e => e.scrollWidth - e.clientWidth") == 0
    seen.open(f"/c/{finished.pk}/report/")
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "report.html")
    read_the_file(seen, (tmp_path / "report.html").as_uri())


def follow_the_theme(page):
    """It is that of the system, as that changes too, until a person chooses; a choice stays."""
    light = page.evaluate(ADDED)
    assert page.evaluate(GROUND) == WHITE
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(GROUND) == BLACK
    assert page.evaluate(ADDED) != light
    page.click("#theme-light")
    page.wait_for_load_state()
    assert page.evaluate(GROUND) == WHITE
    page.click("#theme-dark")
    page.wait_for_load_state()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(GROUND) == BLACK
    page.emulate_media(media="print")
    assert page.evaluate(GROUND) == WHITE
    page.emulate_media(media="screen")
    page.click("#theme-system")
    page.wait_for_load_state()
    assert page.evaluate(GROUND) == WHITE
    assert "/diff" in page.url


def read_the_file(seen, address):
    page, asked = seen.page, []
    page.context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert asked == [address] == seen.wrong
    seen.wrong.clear()
    expect(page.locator("svg.plot")).to_have_count(3)
    assert page.evaluate("getComputedStyle(document.querySelector('.badge')).borderRadius")
    page.locator("table.fold a[href='#round-6']").first.click()
    page.wait_for_url("**#round-6")
    page.set_viewport_size(A4)
    page.emulate_media(media="print")
    assert page.evaluate(CLIPPED) == []
    seen.wrong[:] = [said for said in seen.wrong if said != address]


def test_a_reviewer_without_scripts_reaches_the_same(enter, finished):
    """Filter campaigns and the points of a sweep by a button, open a round, its diff and a failure.

    UX check 2: list, round, diff, comparison and export; the choice of a theme comes back to the
    page, and nothing can be pressed in vain.
    """
    page = (seen := enter(java_script_enabled=False)).page
    seen.open("/")
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.select_option("#f-backend", "cuda")
    page.click("#f-go")
    page.wait_for_url("**backend=cuda**")
    page.get_by_role("link", name=finished.title).click()
    page.click("#row-6")
    page.locator("[data-verdict=accepted]").first.wait_for()
    page.get_by_role("link", name="Whole diff").click()
    page.get_by_role("link", name="split", exact=True).click()
    expect(page.locator("td.text.add").first).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert "/diff" in page.url

    seen.open(f"/c/{finished.pk}/rounds/")
    for number in (3, 6):
        page.check(f"input[name=r][value='{number}']")
    page.click("#compare")
    expect(page.locator("h1")).to_have_text(re.compile("Round 3 .* round 6|Round 6 .* round 3"))
    seen.open(f"/c/{finished.pk}/report/")
    with page.expect_download() as download:
        page.click("#download")
    assert "Row softmax" in Path(download.value.path()).read_text()
    for path in ("", "r/2/", "rounds/", "compare/3..6", "report/"):
        seen.open(f"/c/{finished.pk}/{path}")
        assert page.locator("button:visible").evaluate_all(DEAD) == []

    seen.open(f"/c/{build_swept().pk}/r/{ROUND}/")
    page.click("#sweep-all")
    page.select_option("#f-outcome", "build_failed")
    page.click("#f-go")
    find_the_failures(page)


def find_the_failures(page):
    """The points that were not built, and the compiler's message of one."""
    page.wait_for_url("**outcome=build_failed**")
    page.locator("#point-1").wait_for(state="detached")
    expect(page.locator("#sweep-page tbody tr")).to_have_count(2)
    page.locator("#why-5 summary").click()
    expect(page.locator("#why-5 pre")).to_be_visible()
