"""A campaign of 500 rounds is still a page."""

from html.parser import HTMLParser

import pytest
from django.urls import reverse

from tests.around import built_around
from tests.campaigns.many_rounds import build_many_rounds

MOST_ELEMENTS, MOST_BYTES = 2_500, 300_000


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


def test_every_round_is_a_mark_or_a_dot_of_its_charts(page, long_one):
    answer = page.get(reverse("campaign", args=[long_one]))
    for chart in (answer.context["pictures"].progress, answer.context["pictures"].roofline):
        drawn = {mark.number for mark in chart.marks}
        assert 500 in drawn
        assert sum(dots.path.count("M") for dots in chart.dots) == chart.all - len(drawn)
        assert chart.kind != "roofline" or chart.last.number == 480
        assert f"Of {chart.all} rounds {len(drawn)} are marked" in answer.content.decode()
    assert answer.content.decode().count("<tr data-round=") < 10


def test_its_rounds_are_paged_and_htmx_gets_the_page_alone(page, long_one):
    url = reverse("rounds", args=[long_one])
    second = page.get(url, {"page": 2, "sort": "newest"})
    assert [row.number for row in second.context["rows"]] == [*range(488, 476, -1)]
    assert "page 2 of 42, 500 in all" in second.content.decode()
    assert 'id="page-after" href="?page=3&amp;sort=newest"' in second.content.decode()
    alone = page.get(url, {"page": 3}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in alone
    assert 'id="rounds-page"' in alone
