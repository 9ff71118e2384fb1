"""A real browser on a real server, with and without scripts."""

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from playwright.sync_api import expect, sync_playwright

from tests.campaigns.sample import build_sample

CHROMIUM = "/usr/bin/chromium"
PASSWORD = "correct horse battery"

expect.set_options(timeout=8000)


@pytest.fixture(autouse=True, scope="session")
def static_root(tmp_path_factory):
    """A folder for collected files, as whitenoise warns where there is none."""
    with override_settings(STATIC_ROOT=tmp_path_factory.mktemp("static")):
        yield


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def site(live_server, transactional_db):
    """The server's address, one superuser, and the finished sample campaign."""
    owner = User.objects.create_superuser("kopt", password=PASSWORD)
    campaign = build_sample(owner=owner)
    return live_server.url, campaign


class Visit:
    """One page of one browser context, and what went wrong on it."""

    def __init__(self, context, url):
        self.url = url
        self.page = context.new_page()
        self.page.set_default_timeout(8000)
        self.errors, self.strange = [], []
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._look)

    def _look(self, request):
        if not request.url.startswith(self.url):
            self.strange.append(request.url)

    def open(self, path):
        return self.page.goto(self.url + path)

    def log_in(self):
        self.open("/login/")
        self.page.fill("#id_username", "kopt")
        self.page.fill("#id_password", PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(self.url + "/")


@pytest.fixture
def visit(chromium, site):
    """Make a visit that is logged in; options are those of a browser context."""
    contexts = []

    def make(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        made = Visit(context, site[0])
        made.log_in()
        return made

    yield make
    for context in contexts:
        context.close()
