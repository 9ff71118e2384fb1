"""A campaign of 500 rounds is still a page."""

from html.parser import HTMLParser

import pytest
from django.urls import reverse

from tests.around import built_around
from tests.campaigns.many_rounds import ACCEPTED_EVERY, build_many_rounds

MOST_ELEMENTS, MOST_BYTES = 3_000, 300_000


@pytest.fixture(scope="module")
def long_one(django_db_setup, django_db_blocker):
    with built_around(django_db_blocker, lambda: build_many_rounds().pk) as key:
        yield key


class Elements(HTMLParser):
    count = 0

    def handle_starttag(self, tag, attrs):
        self.count += 1


def elements(body):
    parser = Elements()
    parser.feed(body)
    return parser.count


@pytest.mark.parametrize("name", ["campaign", "figures", "rounds", "round", "compare"])
def test_its_pages_stay_small(page, long_one, name):
    more = {"round": [400], "compare": [2, 480]}
    body = page.get(reverse(name, args=[long_one, *more.get(name, [])])).content.decode()
    assert elements(body) < MOST_ELEMENTS
    assert len(body.encode()) < MOST_BYTES


def test_every_accepted_round_keeps_its_mark(page, long_one):
    answer = page.get(reverse("campaign", args=[long_one]))
    chart = answer.context["pictures"].progress
    drawn = {mark.number for mark in chart.marks}
    assert {1, 2, 3, 500, *range(ACCEPTED_EVERY, 501, ACCEPTED_EVERY)} <= drawn
    assert len(drawn) <= 100
    assert "Drawn: 100 of 500 rounds" in answer.content.decode()


def test_its_rounds_are_paged_and_htmx_gets_the_page_alone(page, long_one):
    url = reverse("rounds", args=[long_one])
    second = page.get(url, {"page": 2, "sort": "newest"})
    assert [row.number for row in second.context["rows"]] == [*range(450, 400, -1)]
    assert "page 2 of 10, 500 in all" in second.content.decode()
    assert 'id="page-after" href="?page=3&amp;sort=newest"' in second.content.decode()
    alone = page.get(url, {"page": 3}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in alone
    assert 'id="rounds-page"' in alone
