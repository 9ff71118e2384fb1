"""Every page of a campaign, of problems and of an account, at a desk and on a phone."""

import pytest

from campaigns.steps.lifecycle.import_trail import import_trail, plan_import
from campaigns.trails.importers.trail import read_path
from tests.browser.look import look_at, look_at_all
from tests.campaigns.sample import build_sample
from tests.campaigns.swept import ROUND, build_swept
from tests.campaigns.trails.importers.test_import import TRAILS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def addresses(done):
    """Name of a page → its address, with each kind of campaign there is."""
    running, swept = build_sample(rounds=3, running=True), build_swept()
    searching = build_swept(points=12)
    imported, _ = import_trail(plan_import(read_path(TRAILS / "optimize")))
    there = imported.get_absolute_url()
    own, live, tried, tries = (f"/c/{c.pk}/" for c in (done, running, swept, searching))
    return {
        "own home": "/",
        "campaigns": "/c/",
        "campaign": own,
        "running": live,
        "rounds": f"{own}rounds/",
        "accepted": f"{own}r/2/",
        "failed": f"{own}r/5/",
        "wrong": f"{own}r/7/",
        "sweep, done": f"{tried}r/{ROUND}/",
        "sweep, running": f"{tries}r/{ROUND}/",
        "points": f"{tried}r/{ROUND}/sweep/",
        "diff": f"{own}r/2/diff?view=split",
        "source": f"{own}r/2/source",
        "comparison": f"{own}compare/2..6",
        "report": f"{own}report/",
        "share": f"{own}share",
        "webhooks": "/webhooks/",
        "hand in": f"{live}submit",
        "new campaign": "/c/new",
        "new problem": "/p/new",
        "problem": "/p/softmax/",
        "import a definition": "/p/import",
        "repositories": "/repositories/",
        "new repository": "/repositories/new",
        "workers": "/workers/",
        "imports": "/c/imported/",
        "import": there,
        "imported round": f"{there}r/2/",
        "imported file": f"{there}f/manifest.yaml",
        "tokens": "/tokens/",
        "API": "/api/",
    }


def test_every_page_fits_and_axe_holds_nothing_against_it(enter, finished):
    """At 1280 and 375 px, light and dark: no overflow, targets to hit, one h1, labels, WCAG 2.2 AA.

    On pages of every kind of campaign, with hostile text in them, and on a login that is refused.
    """
    seen = enter()
    found = look_at_all(seen, addresses(finished))
    seen.page.click("#log-out")
    seen.page.click("main button")
    found += look_at(seen.page, "login refused")
    assert found == []


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
