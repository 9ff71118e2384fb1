"""The list of campaigns."""

import pytest
from django.utils import timezone

from campaigns.reports.sheet import campaign_sheet
from campaigns.rules.wording import share
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.sample import build_sample
from tests.campaigns.steps import cast


def test_it_teaches_when_it_is_empty(page):
    body = page.get("/c/").content.decode()
    assert "No campaigns yet" in body
    assert "manage.py campaign new" in body
    assert "<table" not in body


def test_it_shows_best_share_and_verdicts(page, sample):
    body = page.get("/c/").content.decode()
    assert sample.title in body
    assert "10 / 10" in body
    assert "5 accepted" in body
    best = campaign_sheet(sample, timezone.now()).best
    assert f">{share(best.share)}</data></span>" in body


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("backend=cuda", True),
        ("backend=cpp", False),
        ("op=softmax&state=done", True),
        ("state=working", False),
        ("state=draft", False),
        ("platform=h200-sxm&q=row", True),
        ("q=nothing-like-it", False),
        ("q=%00row&op=soft%00max", True),
        ("sort=name&page=77", True),
        ("sort=evil;drop", True),
    ],
)
def test_it_filters_by_what_the_address_says(page, sample, query, is_found):
    body = page.get(f"/c/?{query}").content.decode()
    assert (f'data-campaign="{sample.pk}"' in body) is is_found


def test_it_says_when_the_filters_leave_nothing(page, sample):
    body = page.get("/c/?q=nothing-like-it").content.decode()
    assert "No campaign matches these filters" in body
    assert "<table" not in body


def test_it_gives_the_results_alone_to_htmx(page, sample):
    answer = page.get("/c/?backend=cuda", headers={"HX-Request": "true"})
    body = answer.content.decode()
    assert body.lstrip().startswith('<section class="panel" id="results"')
    assert "HX-Request" in answer.headers["Vary"]


def test_it_asks_as_many_queries_for_many_as_for_one(
    page, engineer, sample, django_assert_num_queries
):
    page.get("/c/")  # reads the closed rounds
    with django_assert_num_queries(9):
        page.get("/c/")
    for _ in range(2):
        build_sample(rounds=2, owner=engineer)
    page.get("/c/")
    with django_assert_num_queries(9):
        page.get("/c/")


def test_a_draft_is_not_at_work(page, tmp_path):
    platform = cast.make_platform()
    made = create_campaign(Wish(cast.write_problem(tmp_path), platform.slug, "cpp"))
    assert f'data-campaign="{made.pk}"' in page.get("/c/?state=draft").content.decode()
    assert f'data-campaign="{made.pk}"' not in page.get("/c/?state=working").content.decode()


def test_it_says_what_a_campaign_does_in_words(page, running):
    body = page.get("/c/").content.decode()
    assert ">measuring<" in body
    assert ">validate<" not in body
