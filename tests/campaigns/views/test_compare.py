"""Two to six rounds side by side, and campaigns by their best."""

import io
from unittest.mock import patch

import pandas
import pytest
from django.urls import reverse

from campaigns.evaluator.contract.report import WAITED
from campaigns.records.evaluations import legs_of
from campaigns.records.verdicts import final_of
from campaigns.reports.comparison import rounds as comparing
from tests.campaigns.sample import build_sample


def compare(page, campaign, first, second, **query):
    return page.get(reverse("compare", args=[campaign.pk, first, second]), query)


def many(page, campaign, *numbers, **query):
    return page.get(reverse("compare_many", args=[campaign.pk]), {"r": numbers, **query})


def versus(answer):
    return answer.context["comparison"].others[0]


def test_it_shows_the_interval_of_two_that_were_measured_in_pairs(page, sample):
    body = compare(page, sample, 3, 6).content.decode()
    assert "Measured against each other in pairs." in body
    assert 'data-baseline="round 3"' in body


def told(rows):
    """Rounds whose evaluations say so of their surroundings: number → key → words."""
    usual = {"device": "NVIDIA H200", "driver": "570.1", WAITED: "0.1 s", "session": "a"}

    def legs(keys):
        found = legs_of(keys)
        numbers = dict(zip(sorted(found), sorted(rows), strict=False))
        return {key: {**found[key], **usual, **rows.get(numbers[key], {})} for key in found}

    return patch.object(comparing, "legs_of", legs)


def test_rounds_that_were_measured_in_pairs_are_alike_whatever_their_sessions_were(page, sample):
    with told({3: {}, 6: {"driver": "570.2"}}):
        assert versus(compare(page, sample, 3, 6)).differs == ()
    assert "like with like" not in compare(page, sample, 3, 6).content.decode()


def test_rounds_that_never_met_are_of_like_with_like_only_in_one_surrounding(page, sample):
    assert versus(compare(page, sample, 2, 10)).differs == ()
    with told({2: {}, 10: {"driver": "570.2"}}):
        answer = compare(page, sample, 2, 10)
    assert [row.name for row in versus(answer).differs] == ["driver"]
    assert "Not a comparison of like with like: driver (570.1, 570.2" in answer.content.decode()


def test_what_belongs_to_a_session_alone_is_no_leg(sample):
    keys = [row.verdict.evaluation_id for row in sample.rounds.filter(number__in=(3, 6))]
    for legs in legs_of(keys).values():
        assert set(legs) == {"part", "device", "host", "driver", "compiler", "CUDA", "torch",
                             "method"}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [(1, 2), (3, 6), (1, 10)])
def test_it_is_antisymmetric(page, sample, first, second):
    there, back = compare(page, sample, first, second), compare(page, sample, second, first)
    one, other = versus(there), versus(back)
    assert (1 + one.gain.gain) * (1 + other.gain.gain) == pytest.approx(1, abs=1e-9)
    assert (1 + one.gain.low) * (1 + other.gain.high) == pytest.approx(1, abs=1e-9)
    assert one.basis == other.basis
    assert there.context["comparison"].hidden == back.context["comparison"].hidden
    for row, turned in zip(one.cases, other.cases, strict=True):
        assert (1 + row.gain.gain) * (1 + turned.gain.gain) == pytest.approx(1, abs=1e-9)
        assert (row.first_us, row.time_us) == (turned.time_us, turned.first_us)


def test_v0_and_the_incumbent_are_compared_as_the_campaign_page_says(page, sample):
    found = versus(compare(page, sample, 1, 10))
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
    assert "not measured side by side" in body
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


def test_several_are_each_held_against_the_first(page, sample):
    answer = many(page, sample, 3, 6, 5, 2)
    found = answer.context["comparison"]
    assert [one.column.number for one in found.others] == [6, 5, 2]
    for one in found.others:
        assert one.gain == versus(compare(page, sample, 3, one.column.number)).gain
    body = answer.content.decode()
    assert body.count('data-baseline="round 3"') >= 9
    assert f"{reverse('round_diff', args=[sample.pk, 5])}?against=3" in body
    assert all(len(row.values) == 4 for section in found.sections for row in section.rows)


def test_only_rows_that_are_equal_in_all_of_these_are_hidden(page, sample):
    found = many(page, sample, 2, 3, 6).context["comparison"]
    equal = [row for section in found.sections for row in section.rows if row.is_equal]
    assert found.hidden == len(equal) > 6
    body = many(page, sample, 2, 3, 6).content.decode()
    assert f"{found.hidden} equal rows hidden" in body
    assert "nvcc 12.8.93" not in body


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((3,), "1 chosen"),
        ((1, 2, 3, 4, 5, 6, 7), "7 chosen"),
        ((3, "\0x"), "accepted: 2 to 6"),
        ((3, "9" * 400), "accepted: 2 to 6"),
    ],
)
def test_it_says_how_many_it_takes(page, sample, numbers, words):
    answer = many(page, sample, *numbers)
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert many(page, sample, 3, 999).status_code == 404
    assert many(page, sample).headers["Location"] == reverse("rounds", args=[sample.pk])


def test_it_names_the_formats_that_it_has(page, sample):
    answer = compare(page, sample, 3, 6, format="xls")
    assert answer.status_code == 400
    assert "accepted: html, json, csv, md" in answer.content.decode()
    assert compare(page, sample, 3, 6, format="html").status_code == 200


def test_its_data_says_what_the_page_says(page, sample):
    data = many(page, sample, 3, 6, 5, format="json").json()
    found = many(page, sample, 3, 6, 5).context["comparison"]
    assert data["baseline"] == "round 3"
    assert [one["gain"] for one in data["gains"]] == [one.gain.gain for one in found.others]
    assert data["equal_rows"] == found.hidden
    assert "driver" not in data["sections"]["Settings and surroundings"]
    whole = many(page, sample, 3, 6, 10, format="json", only="all").json()
    assert "driver" in whole["sections"]["Settings and surroundings"]


def test_its_markdown_is_a_sentence_and_a_small_table(page, sample):
    answer = compare(page, sample, 3, 5, format="md")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.content.decode()
    assert text.startswith("Round 5: **1.068× slower")
    assert "against round 3 (95%" in text
    assert "| 1024x1024 | " in text
    assert f"(http://testserver{reverse('round', args=[sample.pk, 5])})" in text
    assert "<script" not in text


def test_campaigns_are_compared_by_their_best(page, sample, running):
    there = reverse("compare_campaigns")
    answer = page.get(there, {"c": [sample.pk, running.pk]})
    found = answer.context["comparison"]
    assert found.others[0].gain is None
    assert "no gain is shown" in answer.content.decode()
    assert [row.name for row in found.sections[0].differing][:2] == ["state", "best round"]
    itself = page.get(there, {"c": [sample.pk, sample.pk]}).content.decode()
    assert "identical in every section" in itself
    assert page.get(there, {"c": [sample.pk]}).status_code == 400
    assert page.get(there, {"c": [sample.pk, 10**8]}).status_code == 404


def test_campaigns_from_the_same_v0_have_each_its_own_times_and_no_gain_between_them(page, sample):
    other = build_sample(rounds=6)
    found = versus(page.get(reverse("compare_campaigns"), {"c": [sample.pk, other.pk]}))
    assert (found.differs, found.gain) == ((), None)
    finals = [final_of(one).times for one in (sample, other)]
    assert [(row.first_us, row.time_us) for row in found.cases] == [
        (finals[0][case], finals[1][case]) for case in sample.cases
    ]


def test_lists_offer_to_compare_what_is_ticked(page, sample):
    rounds = page.get(reverse("rounds", args=[sample.pk])).content.decode()
    assert f'action="{reverse("compare_many", args=[sample.pk])}"' in rounds
    assert 'name="r" value="3"' in rounds
    campaigns = page.get(reverse("campaigns")).content.decode()
    assert f'action="{reverse("compare_campaigns")}"' in campaigns
    assert f'name="c" value="{sample.pk}"' in campaigns
