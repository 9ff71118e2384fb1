"""Every page of the site, of problems and of an account, at a desk and on a phone."""

import pytest

from tests.browser.look import look_at, look_at_all
from tests.campaigns.sample import build_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADDRESSES = {
    "own home": "/",
    "review": "/review/",
    "events": "/events/",
    "jobs": "/jobs/",
    "team": "/team/",
    "audit": "/audit/",
    "me": "/me/",
    "shortcuts": "/shortcuts/",
    "go to": "/palette",
    "workers": "/workers/",
    "problem": "/p/softmax/",
    "new problem": "/p/new",
    "import a definition": "/p/import",
    "new campaign": "/c/new",
    "imports": "/c/imported/",
    "repositories": "/repositories/",
    "new repository": "/repositories/new",
    "tokens": "/tokens/",
    "API": "/api/",
}


def test_every_page_fits_and_axe_holds_nothing_against_it(enter, finished):
    """As those of a campaign do; and a login that is refused."""
    build_sample(rounds=3, running=True)
    seen = enter()
    found = look_at_all(seen, ADDRESSES)
    seen.page.click("#log-out")
    seen.page.click("main button")
    found += look_at(seen.page, "login refused")
    assert found == []
