"""The pages as a browser shows them."""

import pytest
from playwright.sync_api import expect

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.models.transitions import claim
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document
from tests.campaigns.sample import build_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATHS = (
    "/", "/c/", "/c/new", "/p/new", "/c/{}/", "/c/{}/rounds/", "/c/{}/r/2/", "/c/{}/r/5/",
    "/c/{}/r/7/",
    "/c/{}/r/2/diff?view=split", "/c/{}/r/2/source", "/c/{}/compare/2..6", "/c/{}/report/", "/w/",
    "/c/imported/",
)  # fmt: skip

# Cards that hide a part of themselves behind a scroll: what folds has to fit.
CUT = """[...document.querySelectorAll("main .scroll:has(> .fold)")]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute("aria-label"))"""


@pytest.mark.parametrize("scripts", [True, False])
def test_it_reviews_a_campaign_with_scripts_and_without(visit, site, scripts):
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.select_option("#f-backend", "cuda")
    if not scripts:
        page.click("#f-go")
    page.wait_for_url("**backend=cuda**")
    page.get_by_role("link", name=site[1].title).click()
    page.click("#row-6")
    page.locator("[data-verdict=accepted]").first.wait_for()
    page.get_by_role("link", name="Whole diff").click()
    page.get_by_role("link", name="split", exact=True).click()
    expect(page.locator("td.text.add").first).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert "/diff" in page.url
    assert seen.errors == []


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_asks_nobody_else(visit, site, width):
    seen = visit(viewport={"width": width, "height": 812})
    for path in PATHS:
        assert seen.open(path.format(site[1].pk)).status == 200
        over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, path
        assert width > 600 or seen.page.evaluate(CUT) == [], path
        small = seen.page.evaluate(
            """[...document.querySelectorAll("main :is(button, .button, .chip, summary, select)")]
            .map(e => e.getBoundingClientRect())
            .filter(r => r.width && (r.height < 24 || r.width < 24)).length"""
        )
        assert small == 0, path
        expect(seen.page.locator("h1"), path).to_have_count(1)
    assert (seen.errors, seen.strange) == ([], [])
    assert seen.page.title() != "owned"


def test_it_lets_code_scroll_no_further_than_its_longest_line(visit, site):
    seen = visit(viewport={"width": 1280, "height": 812})
    seen.open(f"/c/{site[1].pk}/r/2/source")
    code = seen.page.locator(".code").first
    assert code.evaluate("e => e.scrollWidth - e.clientWidth") == 0


def test_it_swaps_what_is_new_announces_it_and_keeps_the_focus(visit, site):
    running = build_sample(rounds=3, running=True)
    seen = visit()
    seen.open(f"/c/{running.pk}/")
    seen.page.focus("#row-2")
    seen.page.locator("#chart-progress summary").click()
    seen.page.focus("#row-2")
    record(running, "note", "something <i>new</i>")
    seen.page.locator("#live").get_by_text("something <i>new</i>", exact=True).wait_for()
    expect(seen.page.locator("#events li").first).to_contain_text("something <i>new</i>")
    assert seen.page.evaluate("document.activeElement.id") == "row-2"
    seen.page.focus("#chart-progress summary")
    record(running, "note", "and again")
    seen.page.locator("#live").get_by_text("and again").wait_for()
    assert seen.page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert seen.page.locator("#chart-progress details").evaluate("d => d.open")
    assert seen.errors == []


def test_it_shows_a_flag_on_a_pinned_value_without_a_reload(visit, site):
    running = build_sample(rounds=3, running=True)
    seen = visit()
    page = seen.page
    seen.open(f"/c/{running.pk}/")
    page.evaluate("window.first = true")
    expect(page.locator("#drift")).to_have_count(0)
    document = Document.objects.get(path="docs/hardware/h200-sxm.md")
    other = document.latest.text.replace("- memory_bandwidth: 4.8", "- memory_bandwidth: 4.9")
    # Nobody may read meanwhile: the test's database in memory locks whole tables.
    page.route("**since=*", lambda route: route.fulfill(status=204))
    page.wait_for_timeout(1000)
    take_files({document.path: other}, ImportOptions(origin=document.origin))
    page.unroute("**since=*")
    page.locator("#wiki-news [data-pin-state=changed]").wait_for()
    page.locator("section:has(#target-title) [data-cite-state=changed]").first.wait_for()
    assert page.locator("#wiki-news").get_attribute("aria-live") == "polite"
    page.evaluate(
        """window.told = 0;
        new MutationObserver(() => { window.told += 1; })
          .observe(document.getElementById("wiki-news"), {childList: true, subtree: true});"""
    )
    record(running, "note", "something else")
    page.locator("#events").get_by_text("something else").wait_for()
    assert page.evaluate("window.told") == 0  # the same news is not told twice
    assert page.evaluate("window.first") is True
    assert seen.errors == []


def test_it_stops_asking_when_the_campaign_is_over(visit, site):
    running = build_sample(rounds=3, running=True)
    seen = visit()
    seen.open(f"/c/{running.pk}/")
    claim(Campaign.objects.filter(pk=running.pk), state="done", stop_sentence="That was all.")
    seen.page.get_by_text("That was all.").wait_for()
    asked = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.wait_for_timeout(4000)
    assert asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_system_until_somebody_chooses(visit, scheme):
    seen = visit(color_scheme=scheme)
    colour = "getComputedStyle(document.body).backgroundColor"
    expected = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 21, 27)"}
    assert seen.page.evaluate(colour) == expected[scheme]
    seen.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    other = next(v for k, v in expected.items() if k != scheme)
    assert seen.page.evaluate(colour) == other
    seen.page.click(f"#theme-{scheme}")
    seen.page.wait_for_load_state()
    assert seen.page.evaluate(colour) == expected[scheme]


def test_it_reads_the_report_from_a_file_without_a_network(visit, site, tmp_path):
    seen = visit()
    seen.open(f"/c/{site[1].pk}/report/")
    with seen.page.expect_download() as download:
        seen.page.click("#download")
    file = tmp_path / "report.html"
    download.value.save_as(file)
    seen.page.context.set_offline(True)
    asked = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    expect(seen.page.locator("svg.plot")).to_have_count(3)
    assert seen.page.evaluate("getComputedStyle(document.querySelector('.badge')).borderRadius")
    seen.page.locator("table.fold a[href='#round-6']").first.click()
    seen.page.wait_for_url("**#round-6")
    assert seen.errors == []


def test_it_fills_the_form_and_shows_the_command(visit, site):
    seen = visit()
    seen.open("/c/new")
    seen.page.select_option("#new-problem", "matmul")
    seen.page.get_by_text("campaign new --problem matmul").wait_for()
    seen.page.locator("#new-platform").focus()
    seen.page.select_option("#new-platform", "h200-sxm")
    seen.page.get_by_text("--platform h200-sxm").wait_for()
    assert seen.page.evaluate("document.activeElement.id") == "new-platform"
    assert "platform=h200-sxm" in seen.page.url
    assert seen.errors == []
