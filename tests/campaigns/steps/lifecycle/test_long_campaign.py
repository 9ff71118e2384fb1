"""119 rounds of every kind: records, trail, report, git log and pages agree number by number.

The judge is a fake that reads a kernel's time from its text, so that the whole campaign is known
beforehand; everything else is what runs in a real one.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from campaigns.evaluator.contract import Job, Outcome, Phase, Report, Source
from campaigns.lineage.repository import repository_of
from campaigns.models import Campaign, Commit, RoundState
from campaigns.proposers.base import Draft, Situation, Variant
from campaigns.reports.report import render_report
from campaigns.rules.wording import change, gain_words
from campaigns.trails.exporters.archive import trail_files
from campaigns.views.round import PER_PAGE
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

ROUNDS, SEED, V0_US = 119, 119, 1_000_000
# What a round tries, how often, and the verdict that it should get.
KINDS = {
    "gain": (3, ("accepted", "promoted")),
    "sweep": (1, ("accepted", "promoted")),
    "shaky": (1, ("accepted", "promoted")),
    "tie": (2, ("no_change", "within_noise")),
    "slower": (3, ("rejected", "slower")),
    "wrong": (2, ("rejected", "wrong_result")),
    "crash": (1, ("rejected", "crashed")),
    "hang": (1, ("rejected", "timed_out")),
    "build": (1, ("rejected", "build_failed")),
    "host": (1, ("invalid", "broken_host")),
}
GAINS = ("gain", "sweep", "shaky")
# Fewer than end a campaign, and than make one start again.
MOST_IN_A_ROW = 4


@dataclass(frozen=True)
class Planned:
    """One round to be. before_us: of the incumbent. texts: of its candidates."""

    number: int
    kind: str
    before_us: int
    time_us: int
    texts: tuple[str, ...]

    @property
    def verdict(self) -> tuple[str, str]:
        return KINDS[self.kind][1]

    @property
    def is_kept(self) -> bool:
        return self.kind in GAINS

    @property
    def gain(self) -> float | None:
        return self.before_us / self.time_us - 1 if self.kind in (*GAINS, "tie", "slower") else None


def plan() -> Iterator[Planned]:
    """The rounds after the baseline, the same ones each time."""
    draw, best_us, in_a_row = random.Random(SEED), V0_US, 0
    kinds = list(KINDS)
    weights = [weight for weight, _ in KINDS.values()]
    for number in range(2, ROUNDS + 1):
        kind = draw.choices(kinds, weights)[0] if in_a_row < MOST_IN_A_ROW else "gain"
        factor = {"slower": 1.2, "tie": 1.0}.get(kind, 0.95)
        time_us = round(best_us * factor)
        texts = [f"time {time_us} // {number}"]
        if kind == "sweep":
            texts = [f"crash // {number}", *texts, f"time {round(best_us * 1.1)} // {number}"]
        elif kind == "shaky":
            texts = [f"{texts[0]} shaky"]
        elif kind not in ("gain", "tie", "slower"):
            texts = [f"{kind} // {number}"]
        yield Planned(number, kind, best_us, time_us, tuple(texts))
        best_us, in_a_row = (time_us, 0) if kind in GAINS else (best_us, in_a_row + 1)


PLAN = tuple(plan())


class Planner:
    """Proposes the rounds of the plan, one after the other."""

    name = "plan"

    def __init__(self) -> None:
        self._left = iter(PLAN)

    def propose(self, situation: Situation) -> Draft | None:
        one = next(self._left, None)
        if one is None:
            return None
        variants = [
            Variant(f"variant {n}", Source("kernel.cpp", text)) for n, text in enumerate(one.texts)
        ]
        return Draft(cast.hypothesis(one.number), tuple(variants))


@dataclass
class Shaken(cast.Judge):
    """The first evaluation of every shaky candidate meets a broken host."""

    met: set[str] = field(default_factory=set)

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        text = job.candidate.text
        if "shaky" in text and text not in self.met:
            self.met.add(text)
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.BURST, "the card fell off the bus")
        return super().evaluate(job, beat)


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """The campaign after its last round."""
    planner = Planner()
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: planner)
    campaign = cast.make_campaign(tmp_path, f"time {V0_US}", max_rounds=ROUNDS)
    bench = cast.make_bench(Shaken())
    return cast.past_its_host(cast.run_again(campaign, bench), bench)


def test_it_tries_every_kind_often():
    found = [one.kind for one in PLAN]
    assert len(PLAN) == ROUNDS - 1
    assert all(found.count(kind) >= 3 for kind in KINDS)


@pytest.mark.long
def test_r51_119_rounds_leave_a_trail_that_agrees_with_itself(ran: Campaign) -> None:
    assert (ran.state, ran.stop_reason) == ("done", "max_rounds")
    rounds = list(ran.rounds.select_related("verdict", "chosen", "against").order_by("number"))
    assert [round_.number for round_ in rounds] == list(range(1, ROUNDS + 1))
    assert all(round_.state == RoundState.CLOSED for round_ in rounds)
    kept = 1
    for planned, round_ in zip(PLAN, rounds[1:], strict=True):
        where = f"round {planned.number} ({planned.kind})"
        verdict = round_.verdict
        assert (verdict.word, verdict.reason) == planned.verdict, where
        assert round_.against.round.number == kept, f"{where}: a rollback goes to the incumbent"
        if planned.gain is not None:
            assert verdict.gain == pytest.approx(planned.gain, abs=2e-3), where
        kept = planned.number if planned.is_kept else kept
    assert ran.incumbent.round.number == kept
    files = trail_files(ran)
    assert_trend(files["logs/performance_trend.md"], rounds)
    assert_history(files["logs/optimize.md"], rounds)
    assert_artifacts(files, rounds)
    assert_git_log(ran, rounds)
    assert_page(ran, rounds)
    assert_report(render_report(ran), rounds)


def cells_of(text):
    """The cells of a document's first table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter="|", quoting=csv.QUOTE_NONE)
    return [[cell.strip() for cell in row[1:-1]] for row in rows]


def assert_trend(text, rounds):
    """Rates are of a work model of 100,000 bytes a case, in GB/s."""
    rows = cells_of(text)
    assert [int(row[0]) for row in rows] == [round_.number for round_ in rounds]
    for row, planned, round_ in zip(rows[1:], PLAN, rounds[1:], strict=True):
        assert row[1] == ("ACCEPTED" if planned.is_kept else "ROLLBACK")
        if planned.gain is None:
            assert (row[3], row[8]) == ("-", "—")
            continue
        assert float(row[3]) == pytest.approx(100_000 / planned.time_us / 1e3, rel=0.01)
        # Only what was measured beside v0 has a change against it.
        beside_v0 = planned.is_kept and round_.against.round.number == 1
        told = f"{change(round_.verdict.gain)} (paired, n={round_.verdict.pairs})"
        assert row[8] == (told if beside_v0 else "—")


def assert_history(text, rounds):
    entries = re.findall(r"^### round-(\d+): (\w+)$", text, re.MULTILINE)
    words = ["BASELINE", *("ACCEPTED" if one.is_kept else "ROLLBACK" for one in PLAN)]
    assert entries == [(str(r.number), word) for r, word in zip(rounds, words, strict=True)]
    last = max(one.number for one in PLAN if one.is_kept)
    assert f"- **Round:** {last}\n" in text


def assert_artifacts(files, rounds):
    for round_ in rounds:
        folder = f"rounds/round-{round_.number}"
        stored = json.loads(files[f"{folder}/artifacts/verdict.json"])
        assert (stored["round"], stored["reason"]) == (round_.number, round_.verdict.reason)
        assert stored["gain"] == round_.verdict.gain
        assert files[f"{folder}/kernel_snapshot/kernel.cpp"] == round_.chosen.text
        memory = json.loads(files[f"memory/v{round_.number - 1}.json"])
        assert memory["masked"] is False


def assert_git_log(campaign, rounds):
    command = ["git", f"--git-dir={repository_of(campaign.pk)}", "log", "--reverse"]
    said = subprocess.run([*command, "--format=%H %s"], capture_output=True, check=True, text=True)
    log = [line.split(" ", 1) for line in said.stdout.splitlines()]
    commits = Commit.objects.filter(round__campaign=campaign).order_by("round__number")
    assert [sha for sha, _ in log] == [commit.sha for commit in commits]
    kept = [r for r in rounds if r.verdict.word == "accepted"]
    assert [int(re.search(r"round-(\d+)", words)[1]) for _, words in log] == [
        r.number for r in kept
    ]
    for (_, words), round_ in zip(log[1:], kept[1:], strict=True):
        assert f"({change(round_.verdict.gain)})" in words


class Rows(HTMLParser):
    """The table of rounds: number → (verdict, the words of its row)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[int, tuple[str, list[str]]] = {}
        self._row: int | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        if tag == "tr" and "data-round" in told:
            self._row = int(told["data-round"])
            self.found[self._row] = (told["data-verdict"], [])

    def handle_endtag(self, tag):
        if tag == "tr":
            self._row = None

    def handle_data(self, data):
        if self._row is not None and data.strip():
            self.found[self._row][1].append(data.strip())


def assert_page(campaign, rounds):
    client = Client()
    client.force_login(User.objects.create(username="reader"))
    found = {}
    for number in range(1, -(-ROUNDS // PER_PAGE) + 1):
        page = client.get(f"/c/{campaign.pk}/rounds/?page={number}")
        assert page.status_code == 200
        found |= Rows(page.content.decode()).found
    assert_rows(found, rounds)


def assert_rows(found, rounds):
    assert sorted(found) == [round_.number for round_ in rounds]
    for round_ in rounds:
        word, texts = found[round_.number]
        assert word == round_.verdict.word
        if round_.number > 1 and round_.verdict.gain is not None:
            verdict = round_.verdict
            words = gain_words(verdict.gain, verdict.gain_low, verdict.gain_high)
            assert words in " ".join(texts)


def assert_report(text, rounds):
    assert_rows(Rows(text).found, rounds)
    for round_ in rounds:
        assert f'id="round-{round_.number}"' in text
