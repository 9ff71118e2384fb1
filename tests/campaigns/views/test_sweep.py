"""The panel of a sweep on its round's page, and the table of its points."""

import io
import json

import pandas
import pytest
from django.core.management import call_command
from django.urls import reverse

from campaigns.charts.sweep_strips import MOST_STRIPS
from campaigns.models import Campaign, Evaluation, SweepPoint
from campaigns.models.transitions import claim
from campaigns.spaces.space import Knob, Space
from campaigns.views.sweep import PER_PAGE
from tests.around import built_around
from tests.campaigns.sample import HOSTILE
from tests.campaigns.swept import (
    EARLY,
    ENDED,
    FAILED,
    POINTS,
    ROUND,
    add_points,
    build_swept,
    search_in,
)

HTMX = {"HTTP_HX_REQUEST": "true"}
# Queries of each page, with those of the session.
COUNTS = {"sweep": 11, "sweep_panel": 10}


@pytest.fixture(scope="module")
def keys(django_db_setup, django_db_blocker):
    def build():
        return [build_swept().pk, build_swept(points=25).pk, build_swept(points=0).pk]

    with built_around(django_db_blocker, build) as made:
        yield made


@pytest.fixture
def done(keys, db):
    return Campaign.objects.get(pk=keys[0])


@pytest.fixture
def searching(keys, db):
    return Campaign.objects.get(pk=keys[1])


@pytest.fixture
def begun(keys, db):
    return Campaign.objects.get(pk=keys[2])


def get(page, campaign, name="sweep", query=None, **headers):
    return page.get(reverse(name, args=[campaign.pk, ROUND]), query, **headers)


def fastest(campaign):
    """The number of the fastest point of its sweep."""
    points = SweepPoint.objects.filter(sweep__round__campaign=campaign, time_us__isnull=False)
    return points.earliest("time_us").number


def numbers(answer):
    return [row["point"].number for row in answer.context["rows"]]


def test_it_begins_with_one_sentence_and_has_both_charts(page, done):
    assert "60 variants screened in" in get(page, done, "round").content.decode()
    body = get(page, done).content.decode()
    assert "60 variants screened in" in body
    assert "faster than the source as it is. A screen only ranks;" in body
    assert body.index('id="sweep"') < body.index('id="sweep-page"')
    assert 'id="sweep-knobs"' in body
    assert 'id="sweep-course"' in body
    assert ENDED in body
    assert "60 of 2,592 points, 2.3 %." in body
    assert f'data-round="{fastest(done)}" data-verdict="accepted"' in body
    assert "All 60 variants" in body


def test_it_groups_failures_with_one_full_message_each(page, done):
    answer = get(page, done, "round")
    groups = answer.context["sweep"]["failures"]
    assert [(g.outcome, g.count) for g in groups[:2]] == [("build_failed", 2), ("pruned", 2)]
    assert answer.context["sweep"]["more_failures"] == 1
    assert answer.content.decode().count("32 registers are too few") == 0


@pytest.mark.parametrize("name", ["sweep", "sweep_panel"])
def test_it_shows_hostile_text_as_text(page, done, name):
    body = get(page, done, name, **(HTMX if name == "sweep_panel" else {})).content.decode()
    assert HOSTILE not in body
    assert "<img" not in body
    assert "&lt;img src=//evil.example" in body


def test_it_shows_progress_and_asks_again_while_it_runs(page, searching):
    body = get(page, searching, "round").content.decode()
    assert '<progress class="bar-of" id="sweep-bar" max="240" value="25"' in body
    assert 'hx-trigger="every 3s"' in body
    assert "25 variants screened so far" in body
    assert "Variants a minute" in body
    assert "Finalists" not in body


def test_it_answers_htmx_only_with_news(page, searching):
    first = get(page, searching, "round")
    query = {"since": first.context["sweep"]["version"]}
    address = reverse("sweep_panel", args=[searching.pk, ROUND])
    assert get(page, searching, "sweep_panel", query, **HTMX).status_code == 204
    add_points(search_in(searching), 5, first=26)
    answer = get(page, searching, "sweep_panel", query, **HTMX)
    assert answer.content.decode().lstrip().startswith('<section class="panel" id="sweep"')
    assert "30 variants screened so far" in answer.content.decode()
    assert 'id="live"' not in answer.content.decode()
    assert address in answer.content.decode()
    assert page.get(address).url == reverse("round", args=[searching.pk, ROUND]) + "#sweep"


def test_it_asks_no_more_once_the_finalists_are_known(page, done):
    body = get(page, done, "sweep_panel", {"since": "x"}, **HTMX).content.decode()
    assert "hx-get" not in body
    assert "Finalists" in body
    assert '<div id="live" hx-swap-oob="innerHTML"><p>60 variants screened in' in body


def test_it_says_why_a_search_broke_off(page, searching):
    run = Evaluation.objects.filter(pk=search_in(searching).pk)
    claim(run, state="done", outcome="broken_host", reason=f"the worker died {HOSTILE}")
    body = get(page, searching, "round").content.decode()
    assert "The search broke off.</b> the worker died &lt;script" in body


def test_it_says_that_a_search_waits_to_go_on(page, searching):
    run = search_in(searching)
    claim(Evaluation.objects.filter(pk=run.pk), state="done", outcome="broken_host", reason="gone")
    run.refresh_from_db()
    run.queue_again()
    body = get(page, searching, "round").content.decode()
    assert "<dt>Ended</dt><dd>not yet: it waits in the queue</dd>" in body
    assert "broke off" not in body


def test_it_begins_empty(page, begun):
    body = get(page, begun, "round").content.decode()
    assert "Nothing has been screened yet: the search is under way" in body
    assert 'id="sweep-knobs"' not in body
    table = get(page, begun).content.decode()
    assert "Nothing has been screened yet" in table
    assert "<table" not in table


@pytest.mark.parametrize("name", ["course", "strips"])
def test_its_charts_have_pages_and_files(page, done, name):
    there = f"{reverse('sweep', args=[done.pk, ROUND])}figures/{name}"
    assert "<figcaption" in page.get(f"{there}/").content.decode()
    svg = page.get(f"{there}.svg").content.decode()
    assert svg.count("<svg") == svg.count("</svg>")
    assert "var(" not in svg
    assert page.get(f"{there}.csv").content.decode().count("\n") > 2


def test_other_rounds_have_no_sweep(page, done):
    for name in ("sweep", "sweep_panel"):
        address = reverse(name, args=[done.pk, 2])
        assert page.get(address, **HTMX).status_code == 404
    assert 'id="sweep"' not in page.get(reverse("round", args=[done.pk, 2])).content.decode()


def test_it_pages_every_point(page, done):
    assert numbers(get(page, done)) == list(range(1, PER_PAGE + 1))
    assert numbers(get(page, done, query={"page": 2})) == list(range(PER_PAGE + 1, POINTS + 1))
    part = get(page, done, **HTMX).content.decode()
    assert part.startswith('<section class="panel" id="sweep-page">')


def test_it_filters_and_sorts_by_the_address(page, done):
    assert numbers(get(page, done, query={"outcome": "build_failed"})) == [5, 9]
    assert numbers(get(page, done, query={"number": "31"})) == [31]
    assert numbers(get(page, done, query={"outcome": "nonsense"})) == []
    assert numbers(get(page, done, query={"number": "9" * 80})) == []
    rows = get(page, done, query={"knob.THREADS": "512", "knob.flags": "(none)"}).context["rows"]
    assert rows
    assert {(r["point"].params["THREADS"], r["point"].params["flags"]) for r in rows} == {(512, "")}
    fastest = get(page, done, query={"sort": "time"}).context["rows"]
    times = [row["point"].time_us for row in fastest if row["point"].time_us]
    assert times == sorted(times)
    by_knob = get(page, done, query={"sort": "knob.THREADS"}).context["rows"]
    threads = [row["point"].params["THREADS"] for row in by_knob]
    assert threads == sorted(threads)
    assert numbers(get(page, done, query={"sort": "nonsense"}))[:3] == [1, 2, 3]


def test_it_says_what_each_row_is(page, done):
    body = get(page, done).content.decode()
    assert 'id="point-6" data-outcome="passed"' in body
    assert "the fastest" in body
    assert "candidate 2" in body
    table = body.partition('id="sweep-page"')[2]
    assert table.count("far behind, only timed briefly") == len(EARLY)
    assert 'data-baseline="the source as it is"' in body
    empty = get(page, done, query={"outcome": "pruned", "number": "1"}).content.decode()
    assert "No variant fits this filter" in empty


def test_it_gives_what_is_shown_as_csv(page, done):
    answer = get(page, done, query={"format": "csv"})
    assert f'round-{ROUND}-sweep.csv"' in answer.headers["Content-Disposition"]
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert len(table) == POINTS
    assert table["time_us"].notna().sum() == POINTS - len(FAILED)
    assert table["time_us.4096x4096"].equals(table["time_us"])
    assert table.loc[table["candidate"] == 2, "number"].tolist() == [fastest(done)]
    assert table["knob.THREADS"].dtype == "int64"
    assert table["reason"].dropna().iloc[0] == FAILED[5][1]
    some = get(page, done, query={"format": "csv", "outcome": "build_failed"}).content.decode()
    assert pandas.read_csv(io.StringIO(some))["number"].tolist() == [5, 9]
    # A spreadsheet takes a leading minus for a formula.
    assert "'-O3" in some or "-O3" not in some


def test_it_gives_the_same_as_json_and_markdown(page, done):
    address = reverse("sweep", args=[done.pk, ROUND])
    rows = page.get(address, {"sort": "time", "format": "json"}).json()["results"]
    times = [row["time_us"] for row in rows if row["time_us"] is not None]
    assert times == sorted(times)
    text = page.get(address, {"sort": "time", "format": "md"}).content.decode()
    assert len(text.splitlines()) == 4 + len(rows)


def test_it_asks_as_often_for_many_points(page, searching, django_assert_num_queries):
    with django_assert_num_queries(COUNTS["sweep"]):
        get(page, searching)
    with django_assert_num_queries(COUNTS["sweep_panel"]):
        get(page, searching, "sweep_panel", **HTMX)
    add_points(search_in(searching), 1500, first=26)
    with django_assert_num_queries(COUNTS["sweep"]):
        get(page, searching)
    with django_assert_num_queries(COUNTS["sweep_panel"]):
        body = get(page, searching, "sweep_panel", **HTMX).content
    assert len(body) < 120_000


def test_the_command_gives_the_same_as_data(done, capsys):
    call_command("round", "show", str(done.pk), str(ROUND), "--json")
    found = json.loads(capsys.readouterr().out)["sweep"]
    assert found["tried"] == POINTS
    assert sum(found["outcomes"].values()) == POINTS
    assert found["best"]["number"] == fastest(done)
    assert [one["candidate"] for one in found["finalists"]] == [2, 3, 4]
    assert found["points"] == reverse("sweep", args=[done.pk, ROUND]) + "?format=csv"
    best = SweepPoint.objects.get(sweep__round__campaign=done, number=fastest(done))
    assert found["best"]["time_us"] == best.time_us


def test_a_person_must_log_in(client, done):
    for name in ("sweep", "sweep_panel"):
        assert get(client, done, name).status_code == 302


WIDE = Space(
    (
        Knob(f"TILE {HOSTILE}", (16, 32, HOSTILE, "-O3 -march=native -funroll-loops"), 16),
        Knob("only", (1,), 1),
        *(Knob(f"KNOB_{n}", tuple(range(12)), 3) for n in range(12)),
    )
)


@pytest.fixture
def wide(db, monkeypatch):
    """A space that nobody can list, with names that a source may have chosen."""
    monkeypatch.setattr("tests.campaigns.swept.space_in", lambda campaign: WIDE)
    monkeypatch.setattr("tests.campaigns.swept._factor", lambda params: 1 + params["KNOB_0"])
    return build_swept(points=40)


def test_it_draws_some_knobs_of_many_and_tables_all(page, wide):
    answer = get(page, wide, "round")
    chart = answer.context["sweep"]["strips"]
    assert len(chart.strips) == MOST_STRIPS
    assert "5 more knobs in the table." in answer.content.decode()
    assert len(chart.table.rows) == 4 + 12 * 12
    assert "× 10^13 points, less than 0.1 %" in answer.content.decode()


def test_it_shows_hostile_knobs_as_text_and_filters_by_them(page, wide):
    query = {f"knob.TILE {HOSTILE}": HOSTILE}
    for name in ("round", "sweep"):
        body = get(page, wide, name, query).content.decode()
        assert HOSTILE not in body
        assert "&lt;script&gt;" in body
    rows = get(page, wide, query=query).context["rows"]
    assert rows
    assert {row["point"].params[f"TILE {HOSTILE}"] for row in rows} == {HOSTILE}
    table = get(page, wide, query={"format": "csv"}).content.decode()
    assert f"knob.TILE {HOSTILE}" in pandas.read_csv(io.StringIO(table)).columns


def test_it_says_so_where_every_variant_fails(page, db, monkeypatch):
    every = dict.fromkeys(range(1, 13), ("build_failed", "no such type"))
    monkeypatch.setattr("tests.campaigns.swept.FAILED", every)
    failing = build_swept(points=12)
    body = get(page, failing, "round").content.decode()
    assert "12 variants screened so far: none has a time." in body
    assert "A screen only ranks" not in body
    assert 'id="sweep-knobs"' not in body
    assert "<strong>build failed</strong>, 12 variants" in body
