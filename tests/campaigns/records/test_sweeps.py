"""A round's sweep, read from its rows."""

from __future__ import annotations

import pytest

from campaigns.models import Campaign
from campaigns.records.sweeps import case_times_of, is_live, reasons_of, sweep_of
from tests.around import built_around
from tests.campaigns.swept import EARLY, FAILED, POINTS, ROUND, build_swept


@pytest.fixture(scope="module")
def keys(django_db_setup, django_db_blocker):
    with built_around(django_db_blocker, lambda: (build_swept().pk, build_swept(points=8).pk)) as k:
        yield k


@pytest.fixture
def done(keys, db):
    return Campaign.objects.get(pk=keys[0]).rounds.get(number=ROUND)


@pytest.fixture
def searching(keys, db):
    return Campaign.objects.get(pk=keys[1]).rounds.get(number=ROUND)


def test_it_reads_plan_and_points_in_order(done):
    found = sweep_of(done)
    assert [point.number for point in found.points] == list(range(1, POINTS + 1))
    assert {"THREADS", "flags", "unroll_j"} <= {knob.name for knob in found.knobs}
    threads = next(knob for knob in found.knobs if knob.name == "THREADS")
    assert (threads.default, threads.values[0]) == (256, 32)
    assert found.size == 2592


def test_it_knows_the_best_and_the_source_as_it_was(done):
    found = sweep_of(done)
    ranked = {p.number: p.time_us for p in found.points if p.is_ranked}
    assert found.best.time_us == min(ranked.values())
    assert found.source.number == 1
    assert found.changed(found.source) == {}
    assert "THREADS" in found.changed(found.best)
    assert ranked.keys().isdisjoint(EARLY | FAILED.keys())


def test_it_names_the_points_that_became_candidates(done):
    finalists = sweep_of(done).finalists
    assert [point.candidate for point in finalists] == [2, 3, 4]
    assert finalists[0] == sweep_of(done).best
    assert [p.params for p in finalists] == [c.params for c in done.candidates.all()[1:]]


def test_it_tells_what_is_live(done, searching):
    assert is_live(searching.campaign, searching)
    assert not is_live(done.campaign, done)
    assert sweep_of(searching).is_running
    assert not sweep_of(done).is_running
    assert sweep_of(searching).finalists == ()


def test_it_finds_reasons_and_times_apart(done):
    found = sweep_of(done)
    assert reasons_of(found).keys() == FAILED.keys()
    assert reasons_of(found, [1, 31]) == {1: "", 31: FAILED[31][1]}
    assert case_times_of(found)[1] == {"4096x4096": found.source.time_us}


def test_it_has_none_where_nothing_was_swept(done):
    assert sweep_of(done.campaign.rounds.get(number=2)) is None


def test_it_asks_four_times_however_many_points(done, django_assert_num_queries):
    with django_assert_num_queries(4):
        sweep_of(done)
