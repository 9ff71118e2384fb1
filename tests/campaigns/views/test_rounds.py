"""All rounds of a campaign."""

import io

import pandas
import pytest
from django.urls import reverse


def numbers(answer):
    return [row.number for row in answer.context["rows"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, list(range(1, 11))),
        ({"verdict": "rejected"}, [5, 7]),
        ({"verdict": "no_change"}, [4]),
        ({"verdict": "accepted", "sort": "gain"}, [2, 6, 3, 10, 1]),
        ({"verdict": "accepted", "sort": "time"}, [10, 6, 3, 2, 1]),
        ({"verdict": "nonsense"}, []),
        ({"sort": "nonsense"}, list(range(1, 11))),
    ],
)
def test_it_filters_and_sorts_by_the_address(page, sample, query, found):
    assert numbers(page.get(reverse("rounds", args=[sample.pk]), query)) == found


def test_it_names_baseline_n_and_interval_in_one_element(page, sample):
    body = page.get(reverse("rounds", args=[sample.pk])).content.decode()
    assert 'data-baseline="v0 (round 1)"' in body
    assert 'data-baseline="round 2"' in body
    # The accepted ones rest on two sessions.
    once, twice = body.count('data-n="10"'), body.count('data-n="20"')
    assert body.count("data-ci-low") == body.count("data-ci-high") == once + twice
    assert twice == 4
    assert 'data-round="8" data-verdict="invalid"' in body


def test_it_asks_a_fixed_number_of_queries(page, sample, django_assert_num_queries):
    with django_assert_num_queries(8):
        page.get(reverse("rounds", args=[sample.pk]))


def test_it_gives_every_round_of_the_filter_as_csv(page, sample):
    answer = page.get(reverse("rounds", args=[sample.pk]), {"verdict": "accepted", "format": "csv"})
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert [*table["round"]] == [1, 2, 3, 6, 10]
    assert (table["candidate_us"] < table["incumbent_us"])[1:].all()
    assert table["gain"].isna().tolist() == [True, False, False, False, False]
