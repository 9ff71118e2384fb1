"""Every page of a campaign, at a desk and on a phone; and the first screen of a round."""

import re

import pytest
from playwright.sync_api import expect

from campaigns.steps.lifecycle.import_trail import import_trail, plan_import
from campaigns.trails.importers.trail import read_path
from tests.browser.look import look_at, look_at_all, unseen
from tests.campaigns.sample import build_sample
from tests.campaigns.swept import ROUND, build_swept
from tests.campaigns.trails.importers.test_import import TRAILS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# What a round has besides, and a campaign; each is a page.
PARTS = ("cases", "profile", "code", "surroundings", "log", "reproduce")
TABS = ("target", "activity", "figures")


def addresses(done):
    """Name of a page → its address, with each kind of campaign there is."""
    running, swept = build_sample(rounds=3, running=True), build_swept()
    searching = build_swept(points=12)
    imported, _ = import_trail(plan_import(read_path(TRAILS / "optimize")))
    there = imported.get_absolute_url()
    own, live, tried, tries = (f"/c/{c.pk}/" for c in (done, running, swept, searching))
    return {
        "campaigns": "/c/",
        "campaign": own,
        "running": live,
        "rounds": f"{own}rounds/",
        "accepted": f"{own}r/2/",
        "failed": f"{own}r/5/",
        "wrong": f"{own}r/7/",
        **{f"{part} of a round": f"{own}r/2/{part}/" for part in PARTS},
        **{f"{tab} of a campaign": f"{own}{tab}/" for tab in TABS},
        "figure": f"{own}figures/progress/",
        "sweep, done": f"{tried}r/{ROUND}/",
        "sweep, running": f"{tries}r/{ROUND}/",
        "points": f"{tried}r/{ROUND}/sweep/",
        "diff": f"{own}r/2/diff?view=split",
        "source": f"{own}r/2/source",
        "comparison": f"{own}compare/2..6",
        "of several": f"{own}compare?r=3&r=6&r=10",
        "decide": f"{own}r/2/decide",
        "comment": f"{own}r/3/diff?comment=4",
        "report": f"{own}report/",
        "share": f"{own}share",
        "webhooks": "/webhooks/",
        "hand in": f"{live}submit",
        "import": there,
        "imported round": f"{there}r/2/",
        "figure of an import": f"{there}figures/claimed/",
        "imported file": f"{there}f/manifest.yaml",
    }


def is_of_campaigns(name, route):
    return route.startswith(("c/", "webhooks/")) and name not in ("imported", "new_campaign")


def test_every_page_fits_and_axe_holds_nothing_against_it(enter, finished):
    """At 1280 and 375 px, light and dark: no overflow, targets to hit, one h1, labels, WCAG 2.2 AA.

    On pages of every kind of campaign, with hostile text in them.
    """
    seen, pages = enter(), addresses(finished)
    assert unseen(seen, pages, is_of_campaigns) == set()
    assert look_at_all(seen, pages) == []


# A reviewer who has never seen the campaign says yes or no by these.
FACTS = {
    "Gain over v0": re.compile(
        r"2\.56× faster\s*\[2\.5\d, 2\.5\d\].*vs v0 \(round 1\), n 20", re.S
    ),
    "Time": re.compile(r"µs.*47\.8 % of the documented 4\.8 TB/s", re.S),
    "Worst case": re.compile(r"2\.31× faster.*1024x1024", re.S),
    "Correct": re.compile(r"2 of 2 cases.*largest error 0\.5 % of the tolerance", re.S),
    "Shown by": re.compile(r"verified.*2 sessions", re.S),
}


def test_what_decides_a_round_stands_on_its_first_screen(enter, finished):
    """At 1280×800 above the fold: all five facts, the gates, and what was changed."""
    seen = enter(viewport={"width": 1280, "height": 800})
    seen.open(f"/c/{finished.pk}/r/2/")
    for name, words in FACTS.items():
        title = seen.page.locator("dt", has_text=re.compile(f"^{name}"))
        fact = seen.page.locator("dl.strip > div").filter(has=title)
        expect(fact).to_have_text(words)
        expect(fact).to_be_in_viewport(ratio=1)
    for part in ("#hypothesis-title", "#diff-title"):
        expect(seen.page.locator(part)).to_be_in_viewport(ratio=1)


def test_what_is_wrong_with_a_page_is_found(visit, transactional_db):
    """Each fault of a layout, a missing text and a faint one by axe, and a style that the
    Content-Security-Policy refuses."""
    seen = visit()
    page = seen.page
    seen.open("/login/")
    page.evaluate(
        """document.querySelector("main").innerHTML = `<h1>a</h1><h3>b</h3><h1 id=faint>faint</h1>
        <input aria-invalid=true><button id=small style="color: red">x</button>
        <a class="button primary">1</a><a class="button primary">2</a>
        <div class=scroll><pre class=fold>${"x".repeat(999)}</pre></div><img src=/static/icon.svg>`;
        document.querySelector(".scroll").style.setProperty("overflow", "auto");
        document.querySelector("main").style.setProperty("width", "1300px");
        document.querySelector("#small").style.setProperty("height", "9px");
        document.querySelector("#small").style.setProperty("min-height", "0");
        document.querySelector("#faint").style.setProperty("color", "#999");
        document.title = "owned";"""
    )
    found = look_at(page, "broken")
    faults = {rest[0].partition(":")[0] for _, *rest in found if len(rest) == 1}
    assert faults == {
        "wider than the window", "cut off", "hard to hit", "not one h1", "a level left out",
        "another primary button", "no label", "wrong without a reason",
        "text that became a script",
    }  # fmt: skip
    assert {"image-alt", "color-contrast"} <= {rest[0] for _, *rest in found if len(rest) > 1}
    assert any("Content Security Policy" in said for said in seen.wrong)
    seen.wrong.clear()
