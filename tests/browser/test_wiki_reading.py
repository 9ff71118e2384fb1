"""Reading the wiki as people do: sheets, search, comparison and sources, with and without scripts.

Checks 1, 2, 6, 8, 10, 17, 18, 20 and 24 of the acceptance list, as far as they concern these pages.
"""

import csv
import io

import pytest
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.kept_wiki import put_wiki
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, SOURCE, TDP

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

X1 = "docs/hardware/x-1.md"
L2 = f"- l2_size: 50 MiB | {SOURCE}"
PAGES = (
    "/w/", "/w/p/x-1/", "/w/p/h200-sxm/?need=roofline", "/w/p/x-1/?asof=yesterday", "/w/specs/",
    "/w/specs/?flag=any", "/w/specs/?state=returned", "/w/compare/", "/w/compare/?p=x-1",
    "/w/compare/?p=h200-sxm&p=h100-sxm5-80gb", "/w/docs/", f"/w/docs/{X1}",
    f"/w/docs/{X1}?view=rendered", f"/w/docs/{X1}?lines=99", "/w/docs/{diff}",
)  # fmt: skip
OVER = "document.documentElement.scrollWidth - innerWidth"
SMALL = """[...document.querySelectorAll("main :is(button, .button, .chip, summary, select)")]
  .filter(e => e.getClientRects().length).map(e => [e.textContent, e.getBoundingClientRect()])
  .filter(([, r]) => r.height < 24 || r.width < 24).map(([text]) => text)"""
UNLABELLED = """[...document.querySelectorAll("main :is(input, select)")]
  .filter(e => !e.labels.length).map(e => e.name)"""
UNTIED = """[...document.querySelectorAll("main [aria-invalid=true]")]
  .filter(e => !document.getElementById(e.getAttribute("aria-describedby"))).map(e => e.name)"""
# Text below 4.5:1, or 3:1 where it is large, against the nearest background that is not clear.
FAINT = """(() => {
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const luminance = c => parts(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor, p = parts(c);
      if (p.length < 4 || p[3] === 1) return c;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const found = new Set();
  for (const e of document.querySelectorAll("main *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    const style = getComputedStyle(e);
    if (!own || !e.getClientRects().length || style.visibility === "hidden") continue;
    const [a, b] = [luminance(style.color), luminance(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
      found.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...found];
})()"""


def text_of(*lines):
    return f"# X 1\n\n{PLATFORM}\n## Specs\n\n" + "\n".join(lines) + "\n"


@pytest.fixture
def wiki(site):
    """The shipped wiki, and a document of which a second text changed, moved and lost values."""
    put_wiki()
    take_files({X1: text_of(L2, BANDWIDTH, TDP)}, ImportOptions(origin="small"))
    first = Spec.objects.get(platform__slug="x-1", metric="tdp").citation.revision
    new = text_of("", "", BANDWIDTH, TDP.replace("700 W", "750 W"))
    take_files({X1: new}, ImportOptions(origin="small"))
    return f"{X1}?against={first.short}"


def test_the_address_holds_what_was_asked(visit, wiki):
    seen, other = visit(), visit()
    page = seen.page
    seen.open("/w/p/h200-sxm/")
    whole = page.locator("main").inner_text()
    page.select_option("#f-need", "roofline")
    page.select_option("#f-evidence", "documented")
    page.click("#f-go")
    page.wait_for_url("**need=roofline**")
    narrow = page.locator("main").inner_text()
    assert len(narrow) < len(whole)
    assert "tensor_cores" not in narrow
    other.page.goto(page.url)
    assert other.page.locator("main").inner_text() == narrow
    page.go_back()
    assert page.locator("main").inner_text() == whole
    assert (seen.errors, other.errors) == ([], [])


STEPS = {
    "/w/p/h200-sxm/": [
        lambda page: page.select_option("#f-need", "roofline"),
        lambda page: page.select_option("#f-evidence", "documented"),
        lambda page: page.select_option("#f-need", ""),
        "#f-go",
    ],
    "/w/specs/": [
        lambda page: page.fill("#s-q", "bandwidth h200"),
        lambda page: page.fill("#s-q", "bandwidth x-1"),
        lambda page: page.select_option("#s-flag", "any"),
        "#s-go",
    ],
    "/w/compare/": [
        lambda page: page.select_option("#c-1", "h200-sxm"),
        lambda page: page.select_option("#c-2", "x-1"),
        lambda page: page.select_option("#c-3", "mi300x"),
        "#c-go",
    ],
    "/w/docs/": [
        lambda page: page.fill("#d-q", "hardware"),
        lambda page: page.fill("#d-q", "mi3"),
        lambda page: page.fill("#d-q", "nothing like it"),
        "main form[role=search] button",
    ],
}


@pytest.mark.parametrize("path", STEPS)
def test_three_times_back_brings_each_state_back(visit, wiki, path):
    seen, other = visit(), visit()
    page = seen.page
    *steps, go = STEPS[path]
    seen.open(path)
    states = [page.locator("main").inner_text()]
    for step in steps:
        step(page)
        with page.expect_navigation():
            page.click(go)
        states.append(page.locator("main").inner_text())
        assert len(page.url) <= 2000
        other.page.goto(page.url)
        assert other.page.locator("main").inner_text() == states[-1]
    assert len(set(states)) == len(states)
    for state in states[-2::-1]:
        page.go_back()
        assert page.locator("main").inner_text() == state
        assert (page.locator("nav").count() > 0, page.locator("h1").count()) == (True, 1)
    assert (seen.errors, other.errors) == ([], [])


@pytest.mark.parametrize("scripts", [True, False])
def test_it_reads_the_wiki_with_scripts_and_without(visit, wiki, scripts):
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    page.get_by_role("link", name="Wiki", exact=True).click()
    page.fill("#w-q", "h200-sxm")
    page.click("#w-go")
    page.locator("#found .rowlink").first.wait_for()
    page.locator("#found").get_by_role("link", name="NVIDIA H200 SXM").first.click()
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
    assert seen.errors == []


def test_a_changed_document_shows_what_became_of_each_citation(visit, wiki):
    seen = visit()
    page = seen.page
    seen.open("/w/")
    for kind, count in {"changed": 1, "lost": 1, "source_missing": 0}.items():
        assert page.locator(f"[data-count={kind}]").inner_text() == str(count), kind
    page.locator("[data-count=lost]").click()
    page.wait_for_load_state()
    expect(page.locator("#found tbody tr")).to_have_count(1)
    expect(page.locator("#found tbody th")).to_have_text("l2_size")
    seen.open("/w/p/x-1/")
    states = {
        metric: page.locator(f"tr:has(> th > a:text-is('{metric}')) [data-cite-state]").first
        for metric in ("memory_bandwidth", "tdp", "l2_size")
    }
    words = {name: state.get_attribute("data-cite-state") for name, state in states.items()}
    assert words == {"memory_bandwidth": "moved", "tdp": "changed", "l2_size": "lost"}
    expect(states["tdp"]).to_have_text("changed")
    seen.open(f"/w/docs/{X1}")
    expect(page.locator("#open-flags li")).to_have_count(2)
    assert seen.errors == []


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
def test_a_copied_citation_finds_its_value_and_its_line(visit, wiki, how):
    seen = visit(permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    seen.open("/w/p/h200-sxm/")
    row = page.locator("tr:has(> th > a:text-is('memory_bandwidth'))")
    button = row.locator("[data-copy]")
    if how == "mouse":
        button.click()
    else:
        button.focus()
        page.keyboard.press("Enter")
    page.locator("#live").get_by_text("Copied").wait_for()
    expected = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23"
    assert page.evaluate("navigator.clipboard.readText()") == expected
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
    assert seen.errors == []


def test_the_quote_opens_by_keyboard_without_scripts(visit, wiki):
    seen = visit(java_script_enabled=False)
    seen.open("/w/p/x-1/")
    details = seen.page.locator("details.quoted").first
    details.locator("summary").focus()
    seen.page.keyboard.press("Enter")
    expect(details.locator("pre")).to_be_visible()
    expect(seen.page.locator("[data-copy]:visible")).to_have_count(0)


def test_the_page_and_its_files_say_the_same(visit, wiki):
    seen = visit()
    page = seen.page
    seen.open("/w/p/h200-sxm/?need=roofline")
    shown = page.locator("table.sheet tr:not(.part) > th[scope=row] > a").all_text_contents()
    table = page.request.get(page.get_by_role("link", name="CSV").evaluate("a => a.href"))
    lines = [row for row in csv.DictReader(io.StringIO(table.text())) if row["state"] != "unknown"]
    assert [row["metric"] for row in lines] == shown
    data = page.request.get(page.get_by_role("link", name="JSON").evaluate("a => a.href")).json()
    stored = [row for row in data["rows"] if row["state"] != "unknown"]
    assert [row["metric"] for row in stored] == shown
    values = [float(row["value"]) if row["value"] else None for row in lines]
    assert values == [row["value"] for row in stored]
    text = page.request.get(
        page.get_by_role("link", name="Markdown").evaluate("a => a.href")
    ).text()
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    figures = page.locator("table.sheet tr[id^=spec-]").evaluate_all(
        "all => all.map(r => [2, 3].map(n => r.cells[n].textContent.trim()).join(' ').trim())"
    )
    known = [cell for cell in cells if not cell[2].startswith("UNKNOWN")]
    assert [cell[2] for cell in known] == [f for f in figures if f != "UNKNOWN"]


def test_a_comparison_and_its_files_say_the_same(visit, wiki):
    seen = visit()
    page = seen.page
    seen.open("/w/compare/?p=h200-sxm&p=x-1&only=all")
    shown = page.locator(".compared tr[data-relation]").evaluate_all(
        "all => all.map(r => [r.cells[0].textContent, ...[2, 3].map(n => "
        "(r.cells[n].querySelector('a') || {textContent: 'unknown'}).textContent)])"
    )

    def file(name):
        return page.request.get(page.get_by_role("link", name=name).evaluate("a => a.href"))

    slugs = ("h200-sxm", "x-1")
    rows = file("JSON").json()["rows"]
    cells = [
        [(row["values"][slug] or {}).get("shown", "unknown") for slug in slugs] for row in rows
    ]
    assert [[row["metric"], *two] for row, two in zip(rows, cells, strict=True)] == shown
    lines = list(csv.DictReader(io.StringIO(file("CSV").text())))
    named = [
        [row["metric"], *(row[f"{slug} shown"] or "unknown" for slug in slugs)] for row in lines
    ]
    assert named == shown
    drawn = [line.strip("| ").split(" | ") for line in file("Markdown").text().splitlines()]
    drawn = [line for line in drawn if len(line) == 5 and line[0].startswith("`")]
    figures = [[line[0].strip("`"), *(c.partition(" (")[0] for c in line[2:4])] for line in drawn]
    assert figures == [[name, *(c.partition(" (")[0] for c in two)] for name, *two in shown]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_every_page_fits_and_can_be_read(visit, wiki, width, scheme):
    seen = visit(viewport={"width": width, "height": 812}, color_scheme=scheme)
    page = seen.page
    for path in PAGES:
        seen.open(path.format(diff=wiki))
        assert page.evaluate(OVER) <= 0, path
        expect(page.locator("h1"), path).to_have_count(1)
        assert page.locator("main :is(.button, button).primary").count() <= 1, path
        for check in (SMALL, UNLABELLED, UNTIED, FAINT):
            assert page.evaluate(check) == [], path
    assert [e for e in seen.errors if "400 (Bad Request)" not in e] == []
    assert seen.strange == []


def test_the_theme_reaches_sheets_and_diffs(visit, wiki):
    seen = visit(color_scheme="light")
    page = seen.page
    colour = "getComputedStyle(document.querySelector('tr.add .text')).backgroundColor"
    seen.open(f"/w/docs/{wiki}")
    light = page.evaluate(colour)
    page.click("#theme-dark")
    page.wait_for_load_state()
    assert "against=" in page.url
    assert page.evaluate(colour) != light


def test_the_contrast_check_sees_faint_text(visit, wiki):
    page = visit(color_scheme="light").page
    page.goto(page.url + "w/docs/")
    assert page.evaluate(FAINT) == []
    page.evaluate("document.querySelector('h1').style.setProperty('color', '#999')")
    assert page.evaluate(FAINT) == ["H1. 2.85"]


FIELDS = """[...document.querySelectorAll("main form[role=search] :is(input, select)")]
  .map(field => [field.name, field.value])"""


def test_back_shows_the_words_and_choices_that_the_address_has(visit, wiki):
    seen = visit()
    page = seen.page
    seen.open("/w/specs/")
    page.fill("#s-q", "h200")
    page.select_option("#s-state", "approved")
    with page.expect_navigation():
        page.click("#s-go")
    asked = page.evaluate(FIELDS)
    assert dict(asked)["q"] == "h200"
    page.locator("#found .rowlink").first.click()
    page.wait_for_url("**/w/s/**")
    page.go_back()
    page.wait_for_url("**q=h200**")
    assert page.evaluate(FIELDS) == asked
    page.fill("#s-q", "tdp")  # typed, but never asked for
    page.go_back()
    page.wait_for_url("**/w/specs/")
    assert not any(value for _, value in page.evaluate(FIELDS))
    page.go_forward()
    page.wait_for_url("**q=h200**")
    assert page.evaluate(FIELDS) == asked
