"""What a campaign does with suspect constructs: kept out, told, or listed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.models import Campaign, CampaignState, Candidate, EvaluationState
from campaigns.records.findings import examined, policy_of
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.finding_kinds import LENIENT, FindingKind, Stance
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from tests.campaigns.steps import cast

CLEAN, FORKS, KEEPS = (
    "// time 50",
    "// time 50\nvoid f() { fork(); }",
    "// time 50\nstatic int kept = 0;",
)


def round_two(campaign: Campaign) -> object:
    return campaign.rounds.get(number=2)


def gate_of(round_) -> dict:
    return next(gate for gate in round_.verdict.gates if gate["name"] == "static findings")


def test_it_never_builds_or_runs_what_is_refused(run, judge, script):
    script([FORKS])
    round_ = round_two(run())
    assert [job for job in judge.jobs if "fork" in job.candidate.text] == []
    assert (round_.verdict.word, round_.verdict.reason) == (
        VerdictWord.REJECTED,
        Reason.FINDING_REFUSED,
    )
    assert "kernel.cpp line 2, fork." in round_.verdict.sentence
    assert gate_of(round_)["passed"] is False
    assert "line 2, fork (process)" in gate_of(round_)["found"]
    (evaluation,) = round_.chosen.evaluations.all()
    assert (evaluation.state, evaluation.outcome, evaluation.report) == (
        EvaluationState.DONE,
        "",
        {},
    )
    assert evaluation.reason == round_.verdict.sentence
    assert evaluation.started_at is None


def test_it_keeps_the_incumbent_and_goes_on(run, judge, script):
    script([FORKS], [CLEAN])
    campaign = run()
    assert campaign.state == CampaignState.DONE
    assert campaign.incumbent.round.number == 3
    messages = [event.message for event in campaign.events.filter(kind="refused")]
    assert messages == ["round 2, variant 1: not run: line 2, fork (process)"]


def test_it_screens_the_others_of_a_sweep(run, judge, script):
    script([FORKS, CLEAN, "time 70"])
    round_ = round_two(run())
    assert round_.chosen.ordinal == 2
    assert round_.verdict.word == VerdictWord.ACCEPTED
    assert not [job for job in judge.jobs if "fork" in job.candidate.text]


def test_it_refuses_a_sweep_of_which_every_candidate_is_refused(run, judge, script):
    script([FORKS, FORKS + " // again"])
    round_ = round_two(run())
    assert round_.verdict.reason == Reason.FINDING_REFUSED
    assert all("fork" not in job.candidate.text for job in judge.jobs)


def test_it_accepts_what_is_flagged_and_keeps_the_finding(run, script):
    script([KEEPS])
    campaign = run()
    round_ = round_two(campaign)
    assert round_.verdict.word == VerdictWord.ACCEPTED
    assert gate_of(round_)["passed"] is True
    assert "flagged: line 2, kept stays in the process" in gate_of(round_)["found"]
    assert round_.chosen.findings == [
        {
            "kind": "cache",
            "line": 2,
            "what": "kept stays in the process between calls",
            "text": "static int kept = 0;",
            "meaning": FindingKind.CACHE.meaning,
        }
    ]
    (found,) = examined(round_.chosen, campaign).of(Stance.FLAGGED)
    assert found.line == 2


def wish(tmp_path, v0: str = "time 100", **findings: str) -> Wish:
    cast.make_platform()
    folder = cast.write_problem(tmp_path, v0)
    return Wish(problem=folder, platform="test-cpu", backend="cpp", findings=findings)


@pytest.mark.django_db
def test_it_freezes_the_policy_with_the_campaign(tmp_path):
    campaign = create_campaign(wish(tmp_path, cache="refused", process="allowed"))
    policy = policy_of(cast.fresh(campaign))
    assert (policy[FindingKind.CACHE], policy[FindingKind.PROCESS]) == (
        Stance.REFUSED,
        Stance.ALLOWED,
    )
    assert (policy[FindingKind.THREAD], policy[FindingKind.PATCHING]) == (
        Stance.ALLOWED,
        Stance.REFUSED,
    )
    assert set(campaign.findings_policy) == set(FindingKind)


def test_it_runs_what_the_campaign_allows(bench, judge, script, tmp_path):
    script([FORKS])
    campaign = create_campaign(wish(tmp_path, process="allowed"))
    cast.confirm(campaign)
    campaign = run_here(campaign.pk, bench, lambda message: None)
    assert round_two(campaign).verdict.word == VerdictWord.ACCEPTED
    assert gate_of(round_two(campaign))["found"] == "1 allowed"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ({"caches": "refused"}, "findings: 'caches'; accepted: identity_key, cache, "),
        ({"cache": "banned"}, "findings.cache: 'banned'; accepted: allowed, flagged, review, "),
    ],
)
def test_it_names_the_field_of_a_policy_that_it_does_not_know(tmp_path, findings, words):
    with pytest.raises(CampaignRefused) as refused:
        create_campaign(replace(wish(tmp_path), findings=findings))
    assert str(refused.value).startswith(words)
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_it_creates_no_campaign_that_refuses_its_own_v0(tmp_path):
    words = (
        r"findings\.process: refused, but v0 has one \(v0\.cpp line 2, fork\); accepted: allowed"
    )
    with pytest.raises(CampaignRefused, match=words):
        create_campaign(wish(tmp_path, FORKS))
    assert not Campaign.objects.exists()


def test_it_refuses_nothing_in_a_campaign_of_before_there_was_a_policy(run, judge, script):
    script([FORKS])
    campaign = run()
    campaign.findings_policy = None
    assert policy_of(campaign) == LENIENT
    old = Candidate(file_name="old.cpp", text=FORKS)
    assert examined(old, campaign) is None
