"""A list without rows teaches: what it is for, one action, one command (UX check 4)."""

import html
import re

import pytest

pytestmark = pytest.mark.django_db

LISTS = ("/c/", "/w/", "/w/docs/", "/x/", "/x/lessons/", "/x/strategies/", "/x/gaps/", "/workers/")


@pytest.mark.parametrize("address", LISTS)
def test_an_empty_list_teaches(admin_client, address):
    text = admin_client.get(address).content.decode()
    found = re.search(r'<(section|div) class="(panel )?empty".*?</\1>', text, re.DOTALL)
    assert found, "no empty state"
    empty = found[0]
    assert len(re.findall(r"<h2", empty)) == 1
    why = html.unescape(re.sub(r"<[^>]+>", "", re.search(r"<p>(.*?)</p>", empty, re.DOTALL)[1]))
    assert why.strip().endswith((".", ":"))
    assert len(re.findall(r'<a class="button( primary)?" ', empty)) == 1
    assert len(re.findall(r'<code class="cli"', empty)) == 1
