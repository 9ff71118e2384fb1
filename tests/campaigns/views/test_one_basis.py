"""Numbers of a campaign agree on all of its pages, whatever its unpaired medians say."""

import io
import re
from dataclasses import replace

import pandas
import pytest
from django.urls import reverse
from django.utils import timezone

from campaigns.records.verdicts import TimeSpread, results_of
from campaigns.reports import rows as rows_module
from campaigns.reports.pictures import pictures
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.totals import trend_of
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import digits, share


@pytest.fixture(autouse=True)
def busy_day(monkeypatch):
    """Round 10 was measured while the host was slow, round 4 while it was quick."""
    factors = {10: 2.2, 4: 0.6, 5: 0.5}

    def moved(verdict):
        factor = factors.get(verdict.round.number, 1)
        return tuple(
            replace(found, time=_times(found.time, factor)) for found in results_of(verdict)
        )

    monkeypatch.setattr(rows_module, "results_of", moved)


def _times(spread, factor):
    if spread is None:
        return None
    ends = (value * factor for value in (spread.median, spread.low, spread.high))
    return TimeSpread(*ends, spread.n)


def test_best_of_baseline_is_the_gain_shown(sample):
    sheet = campaign_sheet(sample, timezone.now())
    assert sheet.baseline.time_us / sheet.best.time_us == pytest.approx(1 + sheet.total.gain)


def test_the_share_of_the_roof_is_the_same_everywhere(page, sample):
    sheet = campaign_sheet(sample, timezone.now())
    told = share(sheet.best.share)
    urls = [
        reverse("campaign", args=[sample.pk]),
        reverse("rounds", args=[sample.pk]),
        reverse("report", args=[sample.pk]),
        reverse("campaigns"),
    ]
    for url in urls:
        assert told in page.get(url).content.decode(), url
    row = page.get(reverse("round", args=[sample.pk, 10])).context["row"]
    assert (row.share, row.time_us) == (sheet.best.share, sheet.best.time_us)


def test_the_strip_says_best_of_baseline(page, sample):
    sheet = campaign_sheet(sample, timezone.now())
    body = page.get(reverse("campaign", args=[sample.pk])).content.decode()
    strip = body[body.index('id="strip"') :]
    assert re.search(rf">{digits(sheet.best.time_us)}</data> <span class=\"unit\">µs", strip)


def test_no_round_without_a_gain_lies_below_the_best_line(sample):
    sheet = campaign_sheet(sample, timezone.now())
    chart = pictures(sheet, str).progress
    best, places = None, {mark.number: mark.y for mark in chart.marks}
    for row in sheet.rows:
        if row.word is Word.ACCEPTED:
            best = row
        elif row.word in (Word.NO_CHANGE, Word.REJECTED) and row.time_us:
            # Further down is faster.
            assert places[row.number] <= places[best.number] + 1e-6


def test_the_trend_shows_no_gain_of_a_round_that_was_not_kept(page, sample):
    trend = trend_of(campaign_sheet(sample, timezone.now()))
    kept = [one.row.number for one in trend.rows if one.change]
    assert kept == [2, 3, 6, 10]
    body = page.get(reverse("report", args=[sample.pk])).content.decode()
    row = body[body.index('data-trend="5"') :].partition("</tr>")[0]
    assert "not kept" in row
    assert "%" not in row


def test_the_trend_comes_as_csv_too(page, sample):
    answer = page.get(reverse("report", args=[sample.pk]), {"format": "csv"})
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert table["against_baseline"].notna().sum() == 4
    assert set(table["unit"]) == {"GB/s"}


def test_a_round_without_a_proven_time_has_no_place_under_the_roof(sample):
    chart = pictures(campaign_sheet(sample, timezone.now()), str).roofline
    assert {mark.number for mark in chart.marks} == {1, 2, 3, 4, 5, 6, 8, 10}


def test_a_rounds_cases_share_its_basis(page, sample):
    context = page.get(reverse("round_tab", args=[sample.pk, 10, "cases"])).context
    shares = [case.share for case in context["cases"]]
    assert geomean(shares) == pytest.approx(context["row"].share)
