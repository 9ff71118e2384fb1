"""Every trick is asked about once, and counted."""

from __future__ import annotations

from argparse import Namespace
from types import SimpleNamespace

import pytest

from campaigns.benchmarks import trust
from campaigns.benchmarks.trick import TRICKS, every
from campaigns.benchmarks.trust import Opinion
from campaigns.devices.discover import this_device
from campaigns.evaluator.contract import Outcome

REFUSED = Opinion(Outcome.WRONG_RESULT, "elements wrong")
QUICK, SLOW = (Opinion(Outcome.PASSED, "", *found) for found in ((3.0, True), (0.333, False)))


def named(name, words, honest=False):
    return SimpleNamespace(name=name, honest=honest, words={"trick": words})


def test_it_asks_about_each_candidate_until_the_time_is_over(monkeypatch):
    monkeypatch.setattr(trust, "ask", lambda *given: REFUSED)
    options = Namespace(device="cpu", tricks=TRICKS, backend=["cpp"], only="cpp/plain", limit_s=60)
    report = trust.measure_trust(options, lambda line: None)
    (row,) = report.tables[2].rows
    assert (row["candidate"], row["kopt"]) == ("cpp/plain", "wrong result")
    options.limit_s = -1.0
    report = trust.measure_trust(options, lambda line: None)
    assert report.tables[0].rows[0]["not asked"] == 1


def test_it_spreads_kinds_evenly_and_keeps_what_hangs_for_the_end():
    tricks = [t for kind in ("cheats", "honest") for t in every(TRICKS, kind, "triton")]
    mixed = trust.mixed(tricks)
    assert sorted(t.name for t in mixed) == sorted(t.name for t in tricks)
    honest = sum(t.honest for t in tricks)
    assert sum(t.honest for t in mixed[: len(mixed) // 2]) == pytest.approx(honest / 2, abs=1)
    assert mixed[-1].name == "triton/hangs"


def test_it_writes_totals_and_a_line_per_candidate():
    judged = [
        (named("cpp/a", "lies"), REFUSED),
        (named("cpp/b", "lies slowly"), SLOW),
        (named("cpp/c", "lies well"), QUICK),
        (named("cpp/d", "is honest", honest=True), QUICK),
        (named("cpp/e", "is honest, too", honest=True), Opinion(Outcome.BROKEN_HOST)),
    ]
    text = trust.report_of(this_device("cpu"), judged, 1).as_markdown()
    assert "1 of 3 dishonest credited, 1 of 2 honest refused." in text
    assert "| 3 | 2 | 1 | 2 | 1 | 1 | 1 |" in text
    assert "| cpp/b | lies slowly | correct (0.33×), no gain |" in text
    assert "| cpp/c | lies well | correct (3.00×) |" in text
    assert "| cpp/e | is honest, too | broken host |" in text
