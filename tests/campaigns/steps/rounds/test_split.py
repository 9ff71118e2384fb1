"""A campaign whose classes diverge: the machine splits the dispatch, and the verdict decides.

The kernels tell their own time: the judge here builds and calls them, and reads it from the output.
So it is the dispatcher itself that decides which kernel a class runs.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Case, Job, Outcome, Phase, Report, Source
from campaigns.management.facts import campaign_details, round_facts, round_text
from campaigns.models import Campaign, Event, Round
from campaigns.records.cases import NO_SPLIT, runs_of
from campaigns.records.rounds import hypothesis_of
from campaigns.records.verdicts import borne_of
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.expectation import Borne
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.rounds.propose import propose, split
from campaigns.trails.exporters.archive import FORMATS
from campaigns.trails.exporters.judged_rounds import trail_of
from tests.campaigns.steps import cast

TOML = """
schema = 1
name = "rows"
title = "Rows"
op = "copy"
dtype = "float32"
config_class = ["D"]
[files]
cpp = "v0.cpp"
[tolerance]
atol = 0
rtol = 0
"""
CASE = """
[[case]]
name = "{n}x{d}"
protected = {protected}
params = {{ N = {n}, D = {d} }}
"""
SHAPES = ((64, 128), (8, 128), (4, 2048), (2, 8192))
SHORT, MIDDLE, LONG = "D=128", "D=2048", "D=8192"


def kernel(short: int, middle: int, long: int, more: str = "") -> str:
    """A source that takes so many µs in each class; both define what the other defines, too."""
    return (
        f"#define LEAST 1000\nstatic float of(int D) {{ return D < LEAST ? {short}.0f : "
        f"D < 4000 ? {middle}.0f : {long}.0f; }}\n{more}"
        'extern "C" void solve(float* in, float* out, int N, int D) { out[0] = of(D); }\n'
    )


V0 = kernel(100, 100, 100)
# In the place of a round that no proposer is asked for.
MACHINE = ""


@dataclass
class Clock(cast.Judge):
    """Builds a source and believes what it says."""

    folder: Path = Path()

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        if job.sanitize or job.read_code or job.counters:
            return super().evaluate(job, beat)
        self.jobs.append(job)
        plain = cast.report_on(replace(job, candidate=Source("x", ""), incumbent=Source("x", "")))
        by_name = {case.name: case for case in job.cases}
        cases = tuple(
            replace(
                case,
                candidate=self._timing(job, job.candidate, by_name[case.case], 0),
                incumbent=self._timing(job, job.incumbent, by_name[case.case], 1)
                if job.incumbent
                else None,
            )
            for case in plain.cases
        )
        return Report(job.job_id, Outcome.PASSED, Phase.DONE, "", cases)

    def _timing(self, job: Job, source: Source, case: Case, shift: int):
        time_us = self._call(source, int(case.params["D"]))
        return cast.timing(Source("x", f"time {time_us}"), job.protocol.blocks, shift)

    def _call(self, source: Source, width: int) -> int:
        built = self.folder / f"{abs(hash(source.text))}.so"
        if not built.exists():
            path = built.with_suffix(".cpp")
            path.write_text(source.text)
            command = ["g++", "-std=c++17", "-shared", "-fPIC", "-o", str(built), str(path)]
            subprocess.run(command, check=True, capture_output=True)
        out = ctypes.c_float()
        none = ctypes.c_void_p()
        ctypes.CDLL(str(built)).solve(none, ctypes.byref(out), ctypes.c_int(1), ctypes.c_int(width))
        return int(out.value)


@pytest.fixture
def judge(tmp_path: Path) -> Clock:
    return Clock(folder=tmp_path)


@pytest.fixture
def rows(tmp_path: Path, bench, script) -> Callable[..., Campaign]:
    """Run a campaign of these proposals to its end."""

    def go(*kernels: str, protected: bool = True, v0: str = V0) -> Campaign:
        script(*([text] for text in kernels))
        cast.make_platform()
        folder = tmp_path / "rows"
        folder.mkdir()
        said = "true" if protected else "false"
        cases = (CASE.format(n=n, d=d, protected=said) for n, d in SHAPES)
        (folder / "problem.toml").write_text(TOML + "".join(cases))
        (folder / "ref.py").write_text(cast.REF)
        (folder / "v0.cpp").write_text(v0)
        policy = StopPolicy(max_rounds=len(kernels) + 4)
        campaign = create_campaign(
            Wish(problem=folder, platform="test-cpu", backend="cpp", policy=policy, seed=7)
        )
        confirm(campaign)
        return run_here(campaign.pk, bench, lambda message: None)

    return go


def told(campaign: Campaign) -> list[tuple[str, str]]:
    """(kind, verdict's reason) of each round after the baseline."""
    rounds = campaign.rounds.filter(number__gt=1).select_related("verdict")
    return [(round_.kind, round_.verdict.reason) for round_ in rounds]


def test_r19_classes_that_diverge_make_the_next_round_a_split(rows, judge):
    campaign = rows(kernel(120, 120, 50))
    assert told(campaign) == [("attempt", Reason.CASE_REGRESSED), ("split", Reason.PROMOTED)]
    split = campaign.rounds.get(number=3)
    assert campaign.incumbent == split.chosen
    assert split.against.round.number == 1
    assert split.hypothesis["strategy"] == "dispatch split"
    assert split.hypothesis["title"].startswith("Split by D ≥ 8192: round 2's kernel there")
    assert "Config classes differ: D=8192 2.00× faster" in split.hypothesis["rationale"]
    assert split.split == {
        "when": "D ≥ 8192",
        "taken": [LONG],
        "runs": {SHORT: 1, MIDDLE: 1, LONG: 2},
        "pair": [split.against.digest, campaign.rounds.get(number=2).chosen.digest],
        "called_by": 2,
    }
    gains = {row["class"]: row["gain"] for row in split.verdict.classes}
    assert gains[LONG] == pytest.approx(1, abs=0.01)
    assert gains[SHORT] == pytest.approx(0, abs=0.01)
    gate = next(gate for gate in split.verdict.gates if gate["name"] == "split")
    assert gate["passed"] is True
    told_where = [f"{SHORT} runs the kernel of round 1", f"{LONG} runs the kernel of round 2"]
    assert all(line in round_text(split) for line in told_where)
    assert round_facts(split)["dispatch"]["runs"] == split.split["runs"]
    assert campaign_details(campaign)["dispatch"]["runs"] == split.split["runs"]
    files = dict(FORMATS["kernel-optimize"].files(trail_of(campaign)))
    assert "| D=8192 | round 2 |" in files["rounds/round-3/summary.md"]
    assert "Kernel of each class" not in files["rounds/round-2/summary.md"]
    # On all cases, in both sessions, like every other round.
    assert [len(job.cases) for job in judge.jobs] == [4] * len(judge.jobs)


def test_r19_the_page_of_a_round_that_diverged_leads_to_its_split(rows, admin_client):
    campaign = rows(kernel(120, 120, 50))
    pages = [
        admin_client.get(f"/c/{campaign.pk}/r/{number}/cases/").content.decode()
        for number in (1, 2, 3)
    ]
    assert ['data-split-in="3"' in page for page in pages] == [False, True, False]


def test_r19_the_machine_splits_before_the_proposer_is_asked(rows):
    campaign = rows(kernel(120, 120, 50), MACHINE, kernel(90, 90, 45))
    assert [kind for kind, _ in told(campaign)] == ["attempt", "split", "attempt"]


def test_r19_a_pair_of_sources_is_split_once(rows):
    # The one class gains more than noise, all of them together do not.
    twice = kernel(130, 130, 98)
    campaign = rows(twice, MACHINE, twice)
    slower = ("attempt", Reason.SLOWER)
    assert told(campaign) == [slower, ("split", Reason.WITHIN_NOISE), slower]


def test_r19_an_accepted_round_that_costs_a_class_gets_its_old_kernel_back(rows):
    campaign = rows(kernel(120, 50, 50), protected=False)
    assert told(campaign) == [("attempt", Reason.PROMOTED), ("split", Reason.PROMOTED)]
    split = campaign.rounds.get(number=3)
    assert split.split["runs"] == {SHORT: 1, MIDDLE: 2, LONG: 2}
    assert split.split["when"] == "D ≤ 128"
    assert split.against.round.number == 2


def test_r19_a_split_of_a_split_knows_where_each_kernel_came_from(rows):
    campaign = rows(kernel(120, 120, 50), MACHINE, kernel(40, 200, 200))
    assert [kind for kind, _ in told(campaign)] == ["attempt", "split", "attempt", "split"]
    last = campaign.rounds.get(number=5)
    assert last.split["runs"] == {SHORT: 4, MIDDLE: 1, LONG: 2}
    assert campaign.incumbent == last.chosen
    assert runs_of(last, [SHORT, LONG]) == {SHORT: 4, LONG: 2}
    assert runs_of(Round(number=4), [SHORT]) == {SHORT: 4}


def test_r19_classes_that_can_not_be_told_apart_are_not_split_and_it_says_why(rows):
    blind = V0.replace("int N, int D", "int N, int width").replace("of(D)", "of(width)")
    one_n = ((8, 128), (8, 2048))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.SHAPES", one_n)
        campaign = rows(kernel(120, 50, 50), v0=blind)
    assert told(campaign) == [("attempt", Reason.CASE_REGRESSED)]
    said = Event.objects.get(kind=NO_SPLIT)
    assert said.round.number == 2
    assert "give the kernel the same N, so no predicate can distinguish them" in said.message
    assert said.message in round_text(said.round)
    assert split(campaign) is None
    assert Event.objects.filter(kind=NO_SPLIT).count() == 1


def test_r19_a_hypothesis_may_be_about_one_class(rows, monkeypatch):
    """And is then held against the gain of that class, which is all that it spoke of."""
    plain = cast.hypothesis
    scoped = {"scope": LONG}
    monkeypatch.setattr(cast, "hypothesis", lambda index: replace(plain(index), **scoped))
    campaign = rows(kernel(100, 100, 50))
    first = campaign.rounds.get(number=2)
    assert hypothesis_of(first).scope == LONG
    assert borne_of(first, first.verdict) is Borne.CONFIRMED
    first.hypothesis["scope"] = SHORT
    assert borne_of(first, first.verdict) is not Borne.CONFIRMED
    scoped["scope"] = "D=7"
    again = cast.Script([[V0]] * 5)
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: again)
    with pytest.raises(ValueError, match=r"scope: 'D=7'; accepted: D=128, D=2048, D=8192"):
        propose(Campaign.objects.get(pk=campaign.pk))
    assert again.seen[0].classes == (SHORT, MIDDLE, LONG)


def test_r19_sources_that_can_not_stand_together_are_not_split(rows):
    campaign = rows(kernel(120, 50, 50, "namespace std { struct mine {}; }\n"))
    assert told(campaign) == [("attempt", Reason.CASE_REGRESSED)]
    assert "adds to namespace std" in Event.objects.get(kind=NO_SPLIT).message
