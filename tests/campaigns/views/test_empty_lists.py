"""A list without rows teaches: what it is for, one action, one command (UX check 4)."""

import html
import re

import pytest

pytestmark = pytest.mark.django_db

LISTS = (
    *("/c/", "/workers/", "/jobs/", "/events/", "/audit/", "/review/"),
    *("/w/", "/w/docs/", "/w/specs/", "/x/", "/x/lessons/", "/x/strategies/", "/x/gaps/"),
    *("/x/disagreements/", "/w/compare/"),
)
# The action stands above these.
ABOVE = ("/repositories/", "/w/imports/", "/x/imports/", "/c/imported/")


@pytest.mark.parametrize("address", [*LISTS, *ABOVE])
def test_an_empty_list_teaches(admin_client, address):
    text = admin_client.get(address).content.decode()
    found = re.search(r'<(section|div) class="(panel )?empty".*?</\1>', text, re.DOTALL)
    assert found, "no empty state"
    empty = found[0]
    assert len(re.findall(r"<h[23]", empty)) == 1
    why = html.unescape(re.sub(r"<[^>]+>", "", re.search(r"<p>(.*?)</p>", empty, re.DOTALL)[1]))
    assert why.strip().endswith((".", ":"))
    if address in ABOVE:
        assert len(re.findall(r'class="(?:button )?primary"', text)) == 1
    else:
        assert len(re.findall(r'<a class="button( primary)?" ', empty)) == 1
    assert len(re.findall(r'<code class="cli"', empty)) == 1
