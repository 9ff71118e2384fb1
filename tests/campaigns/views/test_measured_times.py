"""Times are those of one session: none changes later, and none contradicts the gain beside it."""

import io
import json
from contextlib import redirect_stdout
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from campaigns.api.serializers import WholeCampaignSerializer
from campaigns.models import Campaign
from campaigns.records.campaigns import target_of
from campaigns.reports.case_table import case_rows
from campaigns.reports.comparison.rounds import compare_rounds
from campaigns.reports.comparison.sections import table_rows
from campaigns.reports.figures.registry import FIGURES, FigureQuery, table_of
from campaigns.reports.pictures import pictures
from campaigns.reports.rows import some_rows
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.tables import campaigns_table, rounds_table
from campaigns.trails.exporters.archive import trail_files
from tests.around import built_around
from tests.campaigns.busy import Busy, build_busy

# What is of the whole campaign, and what takes time beside the rounds.
WHOLE = ("manifest.yaml", "final_report.md", "benchmark.md", "logs/optimize.md", "trail.json")


def told_of_rounds(campaign):
    """All that tables, figures and trails say of single rounds: place → rows or text."""
    sheet = campaign_sheet(campaign, timezone.now())
    told = {"rounds.csv": rounds_table(sheet.rows).to_csv()}
    for name in FIGURES.keys() - {"phases"}:
        told[f"{name}.csv"] = table_of(FIGURES[name].draw(FigureQuery(sheet, str))).to_csv()
    files = trail_files(campaign)
    told |= {name: text for name, text in files.items() if name not in WHOLE}
    told["trail.json"] = json.loads(files["trail.json"])["rounds"]
    told["performance.md"] = [row for row in files["performance.md"].splitlines() if "|" in row]
    return told


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    """Key of a busy campaign, and what was told of its rounds before its final session."""
    before = []

    class Watched(Busy):
        def measure(self, evaluation):
            if evaluation.kind == "report":
                before.append(told_of_rounds(Campaign.objects.get(pk=self.campaign.pk)))
            super().measure(evaluation)

    with built_around(django_db_blocker, lambda: build_busy(10, Watched)) as key:
        yield key, before[0]


@pytest.fixture
def busy(built, db):
    return Campaign.objects.get(pk=built[0])


def test_the_final_session_changes_nothing_that_is_told_of_a_round(built, busy):
    after = told_of_rounds(busy)
    assert len(after) > 60
    assert [name for name, told in built[1].items() if after[name] != told] == []


def shown_together(campaign):
    """(place, time beside, own time, gain) wherever a gain stands beside two times."""
    sheet = campaign_sheet(campaign, timezone.now())
    listed = campaigns_table([(campaign, sheet, 0)]).to_dict("records")[0]
    yield "list", listed["incumbent_us"], listed["candidate_us"], sheet.total.gain
    for row in rounds_table(sheet.rows).to_dict("records"):
        yield f"rounds {row['round']}", row["incumbent_us"], row["candidate_us"], row["gain"]
    files = trail_files(campaign)
    for row in json.loads(files["trail.json"])["rounds"]:
        gain = row["verdict"]["gain"]
        yield f"trail {row['number']}", row["incumbent_us"], row["candidate_us"], gain
    for name, text in files.items():
        if name.startswith("memory/"):
            told = json.loads(text)["performance"]
            gain = (told["gain_over_incumbent"] or {}).get("gain")
            yield name, told["incumbent_latency_us"], told["latency_us"], gain
            if (delta := told["comparison_with_previous"]["latency_delta"]) is not None:
                yield f"{name} delta", 1.0, 1 + delta, gain
    rounds = {one.number: one for one in campaign.rounds.all()}
    for pair in ((1, 2), (2, 3), (3, 2), (3, 6), (6, 10), (10, 5), (1, 10), (10, 1), (2, 10)):
        found = compare_rounds(campaign, [rounds[number] for number in pair])
        for row in table_rows(found):
            yield f"{pair}", row.get("baseline_us"), row.get("compared_us"), row["gain"]
    with redirect_stdout(io.StringIO()) as out:
        call_command("campaign", "show", str(campaign.pk), "--json")
    for case in json.loads(out.getvalue())["result"]["cases"]:
        times = case["incumbent_us"]["median"], case["time_us"]["median"]
        yield f"show {case['case']}", *times, case["gain"]


def test_a_gain_is_that_of_the_two_times_beside_it(busy):
    """As nearly as the median of ratios is the ratio of medians."""
    found = [
        (place, beside / own - 1, gain)
        for place, beside, own, gain in shown_together(busy)
        if beside and own and gain is not None and beside == beside and gain == gain
    ]
    assert {place.partition(" ")[0] for place, *_ in found} >= {"list", "rounds", "trail", "show"}
    assert len(found) > 30
    assert [one for one in found if one[1] != pytest.approx(one[2], abs=0.02)] == []


def test_two_that_were_not_measured_side_by_side_have_no_gain(busy):
    pair = busy.rounds.filter(number__in=(2, 10))
    (one,) = compare_rounds(busy, list(pair)).others
    assert (one.gain, {case.gain for case in one.cases}) == (None, {None})
    assert "not measured side by side" in one.basis


def test_a_round_without_a_proven_time_has_no_place_under_the_roof(busy):
    chart = pictures(campaign_sheet(busy, timezone.now()), str).roofline
    assert {mark.number for mark in chart.marks} == {1, 2, 3, 4, 5, 6, 8, 9, 10}


def test_a_cases_checks_are_of_the_sessions_that_its_times_are_of(busy):
    """A verdict on two sessions stores the worse margin of both; a report has its own alone."""
    target = target_of(busy)
    row = some_rows(busy, [10], target)[10]
    report = row.verdict.evaluation.facts
    better = tuple(replace(case, margin=1e-9, correct=False) for case in report.cases)
    shown = case_rows(row, replace(report, cases=better), target)
    stored = {case["case"]: (case["margin"], case["correct"]) for case in row.verdict.cases}
    assert {one.name: (one.checked.margin, one.checked.correct) for one in shown} == stored


def test_every_interface_shows_what_a_round_measured_and_in_which_sessions(
    busy, client, admin_user
):
    """A claim is measured twice: its times and its gain are of both sessions together."""
    client.force_login(admin_user)
    trails = json.loads(trail_files(busy)["trail.json"])["rounds"]
    rows = some_rows(busy, range(1, 11), target_of(busy))
    for round_, trail in zip(busy.rounds.order_by("number"), trails, strict=True):
        row, verdict = rows[round_.number], round_.verdict
        claims = round_.standings.exclude(word="reproduced").values_list("evaluation", flat=True)
        assert verdict.sessions == ([*claims] or [verdict.evaluation_id])
        rest = client.get(f"/api/v1/rounds/{round_.pk}/").json()
        with redirect_stdout(io.StringIO()) as out:
            call_command("round", "show", str(busy.pk), str(round_.number), "--json")
        shown = json.loads(out.getvalue())
        for told in (rest, shown, trail):
            assert (told["candidate_us"], told["incumbent_us"]) == (row.time_us, row.incumbent_us)
        assert rest["sessions"] == shown["verdict"]["sessions"] == trail["verdict"]["sessions"]
        assert rest["sessions"] == verdict.sessions
        one = client.get(f"/api/v1/verdicts/{verdict.pk}/").json()
        assert (one["sessions"], one["gain"]) == (verdict.sessions, rest["gain"])
        if rest["gain"]:
            told = {name: rest["gain"][name] for name in ("gain", "pairs")}
            assert told == {name: shown["verdict"][name] for name in told}
        page = client.get(reverse("round_tab", args=[busy.pk, round_.number, "cases"]))
        assert verdict.sessions_words in page.content.decode()


def test_a_verdict_on_two_sessions_names_both(busy):
    pooled = [one.verdict for one in busy.rounds.all() if len(one.verdict.sessions) > 1]
    assert pooled
    assert all("of 2 sessions" in one.interval_kind for one in pooled if one.gain is not None)
    assert pooled[0].sessions_words == "evaluations {} and {}, pooled".format(*pooled[0].sessions)


def test_a_campaign_has_the_times_of_its_final_session_over_rest(busy, client, admin_user):
    client.force_login(admin_user)
    found = client.get(f"/api/v1/campaigns/{busy.pk}/").json()
    final = campaign_sheet(busy, timezone.now()).final
    told = found["final"]
    assert (told["candidate_us"], told["incumbent_us"]) == (final.time_us, final.incumbent_us)
    assert told["gain"] == found["result"]
    busy.result = None
    assert WholeCampaignSerializer(busy).data["final"] is None
