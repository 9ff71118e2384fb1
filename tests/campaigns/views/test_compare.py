"""Two rounds side by side."""

import io
import math
from dataclasses import replace

import pandas
import pytest
from django.urls import reverse

from campaigns.evaluator.contract.report import WAITED
from campaigns.records.campaigns import target_of
from campaigns.reports.comparison import TextRow
from campaigns.reports.rows import some_rows


def compare(page, campaign, first, second, **query):
    return page.get(reverse("compare", args=[campaign.pk, first, second]), query)


def test_it_shows_the_interval_of_two_that_were_measured_in_pairs(page, sample):
    body = compare(page, sample, 3, 6).content.decode()
    assert "Measured against each other in pairs." in body
    assert 'data-baseline="round 3"' in body


def test_it_chains_the_paired_gains_between_two_that_never_met(page, sample):
    answer = compare(page, sample, 2, 10)
    assert "chained from paired gains through round 3, 6." in answer.content.decode()
    rows = some_rows(sample, [], target_of(sample)).values()
    gains = [row.gain.gain for row in rows if row.number > 1]
    found = answer.context["comparison"].gain
    assert found.gain == pytest.approx(math.prod(1 + gain for gain in gains[1:]) - 1)
    assert found.low < found.gain < found.high


def test_what_belongs_to_a_session_alone_forbids_no_comparison(page, sample):
    found = compare(page, sample, 3, 6).context["comparison"]
    names = ("session", "crew", WAITED, "refused")
    session, driver = (TextRow(n, "a", "b") for n in names), TextRow("driver", "570.1", "570.2")
    assert replace(found, settings=(*session, driver)).environment_differs == (driver,)


def test_the_times_of_a_case_are_apart_by_its_gain(page, sample):
    for row in compare(page, sample, 3, 6).context["comparison"].times:
        assert row.first_us / row.second_us == pytest.approx(1 + row.gain.gain, rel=1e-3)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 10), (1, 6), (5, 4), (1, 10)])
def test_it_is_antisymmetric(page, sample, first, second):
    there = compare(page, sample, first, second).context["comparison"]
    back = compare(page, sample, second, first).context["comparison"]
    assert (1 + there.gain.gain) * (1 + back.gain.gain) == pytest.approx(1, abs=1e-9)
    assert (1 + there.gain.low) * (1 + back.gain.high) == pytest.approx(1, abs=1e-9)
    assert there.basis == back.basis
    assert there.hidden == back.hidden
    for one, other in zip(there.times, back.times, strict=True):
        assert (1 + one.gain.gain) * (1 + other.gain.gain) == pytest.approx(1, abs=1e-9)


def test_v0_and_the_incumbent_are_compared_as_the_campaign_page_says(page, sample):
    found = compare(page, sample, 1, 10).context["comparison"]
    assert found.gain.gain == pytest.approx(sample.result["gain"])
    assert found.basis == "measured side by side at the end of the campaign"


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
    body = compare(page, sample, 2, 7).content.decode()
    assert "No paired gains lead from one to the other" in body
    assert "data-ci-low" not in body


def test_it_gives_the_cases_as_csv(page, sample):
    answer = compare(page, sample, 3, 6, format="csv")
    assert answer.headers["Content-Disposition"] == (
        f'attachment; filename="campaign-{sample.pk}-rounds-3-6.csv"'
    )
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert [*table["case"]] == ["1024x1024", "4096x4096", "all cases"]
    assert (table["low"] < table["gain"]).all()
    assert set(table["basis"]) == {"measured against each other in pairs"}
