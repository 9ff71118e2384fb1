"""Two rounds side by side."""

from dataclasses import replace

import pytest
from django.urls import reverse

from campaigns.reports.comparison import TextRow


def compare(page, campaign, first, second, **query):
    return page.get(reverse("compare", args=[campaign.pk, first, second]), query)


def test_it_shows_the_interval_of_two_that_were_measured_in_pairs(page, sample):
    body = compare(page, sample, 3, 6).content.decode()
    assert "was measured in pairs with round 3" in body
    assert 'data-baseline="round 3"' in body


def test_it_claims_nothing_from_separate_sessions(page, sample):
    body = compare(page, sample, 2, 10).content.decode()
    assert "Not measured in pairs" in body
    assert "data-ci-low" not in body


def test_the_name_of_a_session_alone_forbids_no_comparison(page, sample):
    found = compare(page, sample, 3, 6).context["comparison"]
    session, driver = TextRow("session", "a", "b"), TextRow("driver", "570.1", "570.2")
    assert replace(found, settings=(session,)).environment_differs == ()
    assert replace(found, settings=(session, driver)).environment_differs == (driver,)


@pytest.mark.parametrize(("first", "second"), [(2, 10), (1, 6)])
def test_it_is_antisymmetric(page, sample, first, second):
    there = compare(page, sample, first, second).context["comparison"]
    back = compare(page, sample, second, first).context["comparison"]
    assert there.ratio * back.ratio == pytest.approx(1, abs=1e-9)
    assert there.hidden == back.hidden


def test_it_says_identical_of_a_round_and_itself(page, sample):
    body = compare(page, sample, 3, 3).content.decode()
    assert body.count("identical") >= 4
    assert "1.00×" not in body


def test_it_hides_equal_rows_and_says_how_many(page, sample):
    answer = compare(page, sample, 2, 3)
    assert answer.context["comparison"].hidden >= 6
    assert "nvcc 12.8.93" not in answer.content.decode()
    assert "nvcc 12.8.93" in compare(page, sample, 2, 3, only="all").content.decode()


def test_it_compares_with_a_round_that_has_no_times(page, sample):
    assert "At least one of the two has no times" in compare(page, sample, 2, 7).content.decode()
