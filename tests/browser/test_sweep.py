"""A sweep as a browser shows it, while it runs and after."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_axe import NARROW, RULES, held_against
from tests.campaigns.swept import ROUND, add_points, build_swept, search_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_it_goes_on_by_itself_and_keeps_the_focus(visit, site):
    searching = build_swept(points=12)
    seen = visit(reduced_motion="reduce")
    page = seen.page
    seen.open(f"/c/{searching.pk}/r/{ROUND}/")
    page.evaluate("window.first = true")
    assert page.locator("#sweep-bar").evaluate("bar => bar.value") == 12
    # Nobody may read meanwhile: the test's database in memory locks whole tables.
    page.route("**/sweep/panel**", lambda route: route.fulfill(status=204))
    page.wait_for_timeout(1000)
    page.locator("#sweep-knobs summary").click()
    page.focus("#sweep-all")
    add_points(search_in(searching), 18, first=13)
    page.unroute("**/sweep/panel**")
    page.get_by_text("30 variants screened so far").wait_for()
    assert page.locator("#sweep-bar").evaluate("bar => bar.value") == 30
    assert page.locator("#sweep-knobs details").evaluate("d => d.open")
    assert page.evaluate("document.activeElement.id") == "sweep-all"
    assert page.evaluate("window.first") is True
    moving = "document.querySelector('#sweep').getAnimations({subtree: true}).length"
    assert page.evaluate(moving) == 0
    assert seen.errors == []


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_axe_holds_nothing_against_it(visit, site, width):
    done, searching = build_swept(), build_swept(points=12)
    seen = visit(viewport={"width": width, "height": 812})
    found = []
    for path in (
        f"/c/{done.pk}/r/{ROUND}/",
        f"/c/{done.pk}/r/{ROUND}/sweep/",
        f"/c/{searching.pk}/r/{ROUND}/",
    ):
        seen.open(path)
        over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, path
        found += held_against(seen.page, path, RULES if width == 1280 else NARROW)
    assert found == []
    assert (seen.errors, seen.strange) == ([], [])
    assert seen.page.title() != "owned"


@pytest.mark.parametrize("scripts", [True, False])
def test_it_filters_with_scripts_and_without(visit, site, scripts):
    done = build_swept()
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    seen.open(f"/c/{done.pk}/r/{ROUND}/")
    page.click("#sweep-all")
    page.select_option("#f-outcome", "build_failed")
    if not scripts:
        page.click("#f-go")
    page.wait_for_url("**outcome=build_failed**")
    page.locator("#point-1").wait_for(state="detached")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.locator("#why-5 summary").click()
    expect(page.locator("#why-5 pre")).to_be_visible()
    assert seen.errors == []
