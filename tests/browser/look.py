"""What every page has to hold in a browser: it fits, and it can be read, reached and hit.

UX checks 8 and 24, and WCAG 2.2 AA by axe.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from django.urls import resolve
from playwright.sync_api import Page

from tests.browser.conftest import DESK, PHONE, Visit
from tests.campaigns.views.test_formats import POSTED, filled, pages

FAULTS = """() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const levels = all("main :is(h1, h2, h3, h4)").map(e => [+e.tagName[1], e]);
  const isSmall = e => {
    const {width, height} = e.getBoundingClientRect();
    return e.getClientRects().length && (width < 24 || height < 24);
  };
  const saysWhy = e => (e.getAttribute("aria-describedby") || "").split(" ")
    .some(id => document.getElementById(id));
  const found = {
    "wider than the window": all("html").filter(e => e.scrollWidth > innerWidth),
    "cut off": innerWidth > 600 ? [] : all("main .scroll:has(> .fold)")
      .filter(e => e.scrollWidth > e.clientWidth + 1),
    "hard to hit": all(`main :is(button, .button, .chip, summary, select,
      label:has([type=radio]), label:has([type=checkbox]))`).filter(isSmall),
    "not one h1": all("h1").length === 1 ? [] : all("body"),
    "a level left out": levels.filter(([n], i) => i && n > levels[i - 1][0] + 1).map(l => l[1]),
    "another primary button": all("main :is(.button, button).primary").slice(1),
    "no label": all("main :is(input, select, textarea):not([type=hidden])")
      .filter(e => !e.labels.length && !e.ariaLabel),
    "wrong without a reason": all("main [aria-invalid=true]").filter(e => !saysWhy(e)),
    "text that became a script": document.title === "owned" ? all("title") : [],
  };
  return Object.entries(found).flatMap(([fault, elements]) =>
    elements.map(e => `${fault}: ${e.outerHTML.slice(0, 120)}`));
}"""

# Hide all but the first two of elements that the style sheets do not tell apart, with all that they
# stand in, of all pages that are looked at. Axe takes seconds to hold the colours of each cell of a
# long table against its ground, and those of the head of each page.
THIN = """count => {
  const told = ["class", "type", "disabled", "data-cite-state", "aria-current", "aria-pressed"];
  const kind = new Map();
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("[hidden]")) continue;
    const own = told.map(name => e.getAttribute(name)).join();
    const path = `${kind.get(e.parentElement)} ${e.tagName} ${own}`;
    kind.set(e, path);
    count[path] = (count[path] || 0) + 1;
    if (count[path] > 2) e.setAttribute("hidden", "");
  }
  return count;
}"""

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What passes is told by one example a rule: all of them are most of the time on long pages.
BRIEF = {"resultTypes": ["violations"]}
# A theme changes nothing but colours, and a narrow window nothing but places and sizes.
DRAWN = {"runOnly": TAGS, "rules": {"color-contrast": {"enabled": False}}} | BRIEF
PLACES = {"runOnly": ["target-size", "scrollable-region-focusable"]} | BRIEF
COLOURS = {"runOnly": ["color-contrast"]} | BRIEF

# Parts of pages, and addresses that lead to one.
NO_PAGES = {
    *("review_count", "review_next", "notification", "round_result", "sweep_panel"),
    "confirm_mail",
}
# Pages of which `test_site_pages.py` makes one of each kind.
ONE_OF_EACH = (
    *("experience:track", "experience:import", "repository", "repository_change"),
    *("repository_round", "compare_campaigns", "submission", "decide_result"),
    *("series_entry", "problem_figure", "sweep_figure", "worker_figure"),
)
NOBODY = "00000000-0000-0000-0000-000000000000"


def unseen(
    seen: Visit, addresses: dict[str, str], is_wanted: Callable[[str, str], bool]
) -> set[str]:
    """Pages that none of the addresses leads to, of those whose name and route are wanted."""
    known = {resolve(path.partition("?")[0]).view_name for path in addresses.values()}
    rest = {name: route for name, route in pages() if is_wanted(name, route)}
    for name in known | NO_PAGES | {*ONE_OF_EACH}:
        rest.pop(name, None)
    nobody = {"e/key": NOBODY, "lessons/key": NOBODY}
    asked = {name: seen.url + filled(name, route, nobody) for name, route in rest.items()}
    return {n for n, url in asked.items() if seen.page.request.head(url).status != POSTED}


def faults(page: Page) -> list[str]:
    """What is wrong with the page as it is now, or once it is there: text is before its style."""
    page.wait_for_load_state()
    found: list[str] = page.evaluate(FAULTS)
    return found


def look_at_all(seen: Visit, pages: dict[str, str]) -> list[Any]:
    """What is wrong with any of the pages; name → address."""
    found: list[Any] = []
    known: dict[str, int] = {}
    for name, path in pages.items():
        seen.open(path)
        found += look_at(seen.page, name, known)
    return found


def look_at(page: Page, name: str, known: dict[str, int] | None = None) -> list[Any]:
    """What is wrong with the page at a desk and on a phone, light and dark, with all disclosures
    open. Some of it stays hidden.

    known: how often each kind of element was seen on other pages; counted on.
    """
    known = {} if known is None else known
    found = [(name, fault) for fault in faults(page)]
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    found += [(name, fault) for fault in faults(page)]
    found += _axe(page, name, DRAWN)
    page.set_viewport_size(PHONE)
    found += [(f"{name}, narrow", fault) for fault in faults(page)]
    found += _axe(page, f"{name}, narrow", PLACES)
    page.set_viewport_size(DESK)
    known |= page.evaluate(THIN, known)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        found += _axe(page, f"{name}, {scheme}", COLOURS)
    return found


@cache
def _script() -> str:
    return Axe().axe_script


def _axe(page: Page, name: str, options: dict[str, Any]) -> list[Any]:
    """What axe holds against it: page, rule, impact, place and remedy."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_script())
    report = page.evaluate("options => axe.run(options)", options)
    assert report["passes"] or report["inapplicable"], "axe ran no rule"
    return [
        (name, rule["id"], rule["impact"], node["target"], node["failureSummary"])
        for rule in report["violations"]
        for node in rule["nodes"]
    ]
