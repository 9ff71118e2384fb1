"""A real browser on a real server, with and without scripts.

A test here is a journey: one path of a person through many pages. What the test client can see is
tested with that, beside the view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client, override_settings
from playwright.sync_api import Browser, BrowserContext, Response, expect, sync_playwright

from tests.campaigns.sample import build_sample

CHROMIUM = "/usr/bin/chromium"
PASSWORD = "correct horse battery"
ROLES = {"vera": "viewer", "enzo": "engineer", "cora": "curator", "carl": "curator"}
DESK, PHONE = {"width": 1280, "height": 812}, {"width": 375, "height": 812}

# The browser reports these answers as errors, though a page says in them what is wrong.
REFUSED = re.compile(r"the server responded with a status of (400|403|409|422) ")

expect.set_options(timeout=8000)


class Visit:
    """The page of one browser context, and what went wrong on it.

    wrong: errors of scripts and of the Content-Security-Policy, dialogs, and requests to others.
    """

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.wrong: list[str] = []
        self.page = page = context.new_page()
        page.set_default_timeout(8000)
        page.on("console", lambda said: said.type == "error" and self._note(said.text))
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("request", lambda asked: asked.url.startswith(url) or self._note(asked.url))
        page.on("dialog", lambda dialog: self._note(dialog.message) or dialog.dismiss())

    def _note(self, text: str) -> None:
        if not REFUSED.search(text):
            self.wrong.append(text)

    def open(self, path: str) -> Response:
        answer = self.page.goto(self.url + path)
        assert answer is not None, path
        return answer


@pytest.fixture(autouse=True, scope="session")
def static_root(tmp_path_factory):
    """A folder for collected files, as whitenoise warns where there is none."""
    with override_settings(STATIC_ROOT=tmp_path_factory.mktemp("static")):
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def owner(transactional_db: None) -> User:
    """The superuser `kopt`."""
    return User.objects.create_superuser("kopt", password=PASSWORD)


@pytest.fixture
def finished(owner):
    """The sample campaign, finished."""
    return build_sample(owner=owner)


@pytest.fixture
def visit(chromium: Browser, live_server) -> Iterator[Callable[..., Visit]]:
    """Open a page of a browser, on which nothing may go wrong.

    url: of another server. Options are those of a browser context.
    """
    visits: list[Visit] = []

    def make(url: str = live_server.url, **options: object) -> Visit:
        context = chromium.new_context(**{"viewport": DESK, **options})
        visits.append(Visit(context, url.rstrip("/")))
        return visits[-1]

    yield make
    for made in visits:
        made.page.context.close()
    assert [said for made in visits for said in made.wrong] == []


@pytest.fixture
def enter(visit, owner) -> Callable[..., Visit]:
    """A visit of a person who is logged in: the owner, or one of ROLES."""

    def make(name: str = owner.username, **options: object) -> Visit:
        made = visit(**options)
        client = Client()
        client.force_login(person(name))
        session = client.cookies["sessionid"].value
        made.page.context.add_cookies([{"name": "sessionid", "value": session, "url": made.url}])
        return made

    return make


def person(name: str) -> User:
    """This person, with the role of that name."""
    user, is_new = User.objects.get_or_create(username=name)
    if is_new:
        user.groups.add(Group.objects.get(name=ROLES[name]))
    return user
