"""Reading the wiki as people do: sheets, search, comparison and sources, with and without scripts.

UX checks 1, 2, 10 and 18, as far as they concern these pages.
"""

import pytest
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.browser.full_wiki import L2, X1, text_of
from tests.browser.test_search import learn
from tests.kept_wiki import put_wiki
from tests.knowledge.conftest import BANDWIDTH, TDP

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

H200 = "/w/p/h200-sxm/"
COPIED_MS = 2000  # how long a button says so
FIELDS = """[...document.querySelectorAll("main form[role=search] :is(input, select)")]
  .map(field => [field.name, field.value])"""
# A page → the choices made on it one after the other, field → value, and the button that asks.
CHOICES = {
    H200: ([("#f-need", "roofline"), ("#f-evidence", "documented"), ("#f-need", "")], "#f-go"),
    "/w/specs/": (
        [("#s-q", "bandwidth h200"), ("#s-q", "bandwidth x-1"), ("#s-flag", "any")],
        "#s-go",
    ),
    "/w/compare/": ([("#c-1", "h200-sxm"), ("#c-2", "x-1"), ("#c-3", "mi300x")], "#c-go"),
    "/w/docs/": (
        [("#d-q", "hardware"), ("#d-q", "mi3"), ("#d-q", "nothing like it")],
        "main form[role=search] button",
    ),
    "/search/?q=padding": (
        [("#in-op", "softmax"), ("#in-backend", "triton"), ("#in-outcome", "failed")],
        "#go",
    ),
}


@pytest.fixture
def wiki(owner):
    """The shipped wiki, and a document of which a second text changed, moved and lost values."""
    put_wiki()
    take_files({X1: text_of(L2, BANDWIDTH, TDP)}, ImportOptions(origin="small"))
    new = text_of("", "", BANDWIDTH, TDP.replace("700 W", "750 W"))
    take_files({X1: new}, ImportOptions(origin="small"))


def choose(page, field, value):
    if page.locator("#narrow:not([open])").count():
        page.click("#narrow summary")
    if page.locator(field).evaluate("e => e.tagName") == "SELECT":
        page.select_option(field, value)
    else:
        page.fill(field, value)


def state_of(page):
    """What it says, folded or not, and what its form holds."""
    return page.locator("main").text_content(), page.evaluate(FIELDS)


def test_the_address_holds_what_was_asked(enter, wiki):
    """On five pages with filters: three choices, each in an address that shows the same to another
    browser, and three times back, which brings each state and each field back, whole.

    Words that were typed and never asked for are gone after back.
    """
    learn()
    seen, other = enter(), enter()
    page = seen.page
    for path, (choices, go) in CHOICES.items():
        seen.open(path)
        states = [state_of(page)]
        for field, value in choices:
            choose(page, field, value)
            with page.expect_navigation():
                page.click(go)
            states.append(state_of(page))
            assert len(page.url) <= 2_000
            other.page.goto(page.url)
            assert state_of(other.page) == states[-1]
        assert len({text for text, _ in states}) == len(states), path
        choose(page, *choices[0])
        for state in states[-2::-1]:
            page.go_back()
            expect(page.locator("h1")).to_have_count(1)
            assert page.locator("nav").count() > 0
            assert state_of(page) == state
        page.go_forward()
        assert state_of(page) == states[1]


def test_it_is_read_without_scripts(enter, wiki):
    """Search, sheet, comparison and a changed document; a quote opens by keyboard.

    Buttons that copy are not there. UX check 2: search and compare.
    """
    page = (seen := enter(java_script_enabled=False)).page
    seen.open("/")
    page.get_by_role("link", name="Wiki", exact=True).click()
    page.fill("#w-q", "h200-sxm")
    page.click("#w-go")
    page.locator("#found .rowlink").first.wait_for()
    page.locator("#found").get_by_role("link", name="NVIDIA H200 SXM").first.click()
    details = page.locator("details.quoted").first
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(details.locator("pre")).to_be_visible()
    expect(page.locator("[data-copy]:visible")).to_have_count(0)
    page.get_by_role("link", name="docs/hardware/h200-sxm.md:L23").first.click()
    page.wait_for_url("**#L23")
    expect(page.locator("#L23")).to_contain_text("4.8 TB/s")
    page.go_back()

    page.get_by_role("link", name="Compare", exact=True).click()
    page.select_option("#c-1", "h200-sxm")
    page.select_option("#c-2", "h100-sxm5-80gb")
    page.click("#c-go")
    page.wait_for_load_state()
    expect(page.locator("[data-relation=equal]")).to_have_count(0)
    page.get_by_role("link", name="everything").click()
    page.locator("[data-relation=equal]").first.wait_for()

    seen.open(f"/w/docs/{X1}")
    page.select_option("#d-against", index=1)
    page.click("#d-go")
    expect(page.locator("#affected")).to_contain_text("Citations affected: 3")
    expect(page.locator("tr.add .text").first).to_be_visible()


def test_a_citation_is_copied_and_found_again(enter, wiki):
    """On a sheet and on a value's page, by mouse and by keyboard; pasted into the search it finds
    its value first, and from there its line, in view and highlighted. UX check 18.
    """
    seen = enter(permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    page.clock.install()
    spec = Spec.objects.get(platform__slug="h200-sxm", metric="memory_bandwidth", state="approved")
    text = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23"
    row = page.locator("tr:has(> th > a:text-is('memory_bandwidth'))")
    for path, place in {H200: row, spec.get_absolute_url(): page.locator("main")}.items():
        seen.open(path)
        button = place.locator("[data-copy]")
        for press in (lambda button: button.click(), lambda button: button.press("Enter")):
            page.evaluate("navigator.clipboard.writeText('')")
            press(button)
            page.locator("#live").get_by_text("Copied").wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == text
            page.clock.run_for(COPIED_MS)
            expect(page.locator("#live")).to_have_text("")

    seen.open("/w/")
    page.focus("#w-q")
    page.keyboard.press("Control+V")
    page.keyboard.press("Enter")
    first = page.locator("#found tbody tr").first
    expect(first.locator("th")).to_have_text("memory_bandwidth")
    expect(first).to_contain_text("NVIDIA H200 SXM")
    first.locator("a.cite").click()
    line = page.locator("#L23")
    line.wait_for()
    expect(line).to_contain_text("4.8 TB/s")
    box = line.bounding_box()
    assert 0 <= box["y"] < page.viewport_size["height"]
    colour = "e => getComputedStyle(e.querySelector('.text')).backgroundColor"
    assert line.evaluate(colour) != page.locator("#L24").evaluate(colour)
