"""axe on every page of the wiki and the main pages of a campaign (UX check 8, WCAG 2.2 AA)."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import resolve

from campaigns.steps.lifecycle.import_trail import import_trail, plan_import
from campaigns.trails.importers.files import read_path
from tests.browser.full_wiki import build_full_wiki
from tests.campaigns.sample import build_sample
from tests.campaigns.trails.importers.test_import import TRAILS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A theme changes nothing but colours, and a narrow window nothing but places and sizes.
PLACES = {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]}
# What passes is told by one example a rule: all of them are most of the time on long pages.
BRIEF = {"resultTypes": ["violations"]}
RULES = {
    "light": {"runOnly": TAGS} | BRIEF,
    "dark": {"runOnly": ["color-contrast"]} | BRIEF,
}
NARROW = {"light": {"runOnly": PLACES} | BRIEF}
CAMPAIGN = {
    "own home": "/",
    "campaigns": "/c/",
    "campaign": "/c/{}/",
    "rounds": "/c/{}/rounds/",
    "round": "/c/{}/r/5/",
    "round diff": "/c/{}/r/2/diff?view=split",
    "source": "/c/{}/r/2/source",
    "comparison": "/c/{}/compare/2..6",
    "report": "/c/{}/report/",
    "new campaign": "/c/new",
    "new problem": "/p/new",
    "problem": "/p/softmax/",
    "tokens": "/tokens/",
    "API": "/api/",
}


@pytest.fixture
def addresses(site):
    running = build_sample(rounds=3, running=True)
    pages = {name: path.format(site[1].pk) for name, path in CAMPAIGN.items()}
    pages |= {"running": f"/c/{running.pk}/", "hand in": f"/c/{running.pk}/submit"}
    return pages | _imported() | build_full_wiki()


def _imported():
    row, _ = import_trail(plan_import(read_path(TRAILS / "optimize")))
    own = row.get_absolute_url()
    more = {"imported round": f"{own}r/2/", "imported file": f"{own}f/manifest.yaml"}
    return {"imports": "/c/imported/", "import": own} | more


def held_against(page, name, schemes=RULES):
    """What axe finds with every disclosure open: page, theme, rule, impact, place and remedy.

    schemes: theme → options of axe.
    """
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    found = []
    for scheme, rules in schemes.items():
        page.emulate_media(color_scheme=scheme)
        report = Axe().run(page, options=rules).response
        assert report["passes"] or report["inapplicable"], "axe ran no rule"
        found += [
            (name, scheme, rule["id"], rule["impact"], node["target"], node["failureSummary"])
            for rule in report["violations"]
            for node in rule["nodes"]
        ]
    return found


@pytest.mark.parametrize("width", [375, 1280])
def test_axe_holds_nothing_against_any_page(visit, addresses, width):
    seen = visit(viewport={"width": width, "height": 812})
    page = seen.page
    schemes = RULES if width == 1280 else NARROW
    found, views = [], set()
    for name, path in addresses.items():
        seen.open(path)
        # Colours come from one style sheet: the second theme of a view's other pages is the same.
        view = resolve(path.partition("?")[0]).view_name
        first = view not in views
        views.add(view)
        found += held_against(page, name, schemes if first else {"light": schemes["light"]})
    seen.open("/w/propose/")
    page.click("#do-propose")
    found += held_against(page, "propose refused", schemes)
    page.click("#log-out")
    page.click("main button")
    found += held_against(page, "login refused", schemes)
    assert found == []


def test_axe_would_find_something(visit):
    page = visit().page
    page.evaluate("document.querySelector('main').innerHTML = '<img src=/a><h4>x</h4>'")
    rules = {rule for _, _, rule, *_ in held_against(page, "broken")}
    assert {"image-alt", "page-has-heading-one"} <= rules
