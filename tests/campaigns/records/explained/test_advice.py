"""What findings promised beside what the rounds that cite them gained (R26)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.models import Campaign
from campaigns.proposers.base import Draft, Pointed, Situation, proposer
from campaigns.proposers.situation import situation_of
from campaigns.records.explained.advice import advice_record
from campaigns.rules.verdict.expectation import AdviceRecord
from campaigns.steps.lifecycle.restart import hide_rounds
from campaigns.steps.lifecycle.run_here import run_here
from knowledge.models.project import Project, ProjectWork, WorkKind
from knowledge.models.sight import seeing
from tests.campaigns.profiles import counted
from tests.campaigns.proposers.test_advised import PLAIN
from tests.campaigns.steps import cast

FOUND = "stall_drain"
ROUNDS = [["time 50"], ["wrong"], ["time 200"], ["time 51"]]
# A finding against what the search would try later.
AGAINST = Pointed(f"finding:{FOUND}", "stores", frozenset({"flags.optimise"}))


class Citing(cast.Script):
    """Each round rests on the same finding of the incumbent's profile."""

    def propose(self, situation: Situation) -> Draft | None:
        draft = super().propose(situation)
        if draft is None:
            return None
        return replace(draft, hypothesis=replace(draft.hypothesis, cites=(f"finding:{FOUND}",)))


@pytest.fixture
def campaign(db: None, tmp_path, monkeypatch) -> Campaign:
    cast.set_the_scene(monkeypatch)
    script = Citing(ROUNDS)
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    monkeypatch.setattr(
        "campaigns.steps.measuring.evaluate.count_kernels", lambda *_: counted("transpose_naive")
    )
    made = cast.make_campaign(tmp_path, max_rounds=5)
    return run_here(made.pk, cast.make_bench(cast.Judge()), lambda message: None)


def test_r26_what_was_promised_stands_beside_what_was_gained(
    campaign, django_assert_num_queries
) -> None:
    with django_assert_num_queries(2):
        told = advice_record([FOUND, "spills"])
    (found,) = told.values()
    assert (found.rounds, found.accepted, found.measured) == (4, 1, 3)
    assert found.gain == pytest.approx(-0.02, abs=0.01)
    (fact,) = (
        one
        for one in campaign.evidence.first().facts["profile"]["findings"]
        if one["name"] == FOUND
    )
    assert found.promised == fact["share"] > 0
    assert found.words.startswith("cited in 4 rounds, 1 accepted, median -")
    assert "against each incumbent, n=3), it promised at most 44.9 % of the time" in found.words
    pointed = {one.cites: one.trust for one in situation_of(campaign).pointed}
    assert pointed[f"finding:{FOUND}"] == found
    assert advice_record([]) == advice_record(["spills"]) == {}


def test_what_is_masked_or_of_another_project_counts_for_nothing(campaign) -> None:
    hide_rounds(campaign, [2], "it was a fluke")
    assert advice_record([FOUND])[FOUND].accepted == 0
    project = Project.objects.create(name="Secret")
    ProjectWork.objects.create(kind=WorkKind.CAMPAIGN, key=campaign.pk, project=project)
    with seeing(lambda: frozenset({project.pk})):
        assert advice_record([FOUND]) == {}


@pytest.mark.parametrize(
    ("trust", "raised"),
    [
        (None, True),
        (AdviceRecord(rounds=3, accepted=0), True),
        (AdviceRecord(rounds=9, accepted=1), True),
        (AdviceRecord(rounds=4, accepted=0), False),
    ],
)
def test_r26_advice_that_never_paid_raises_no_idea(trust, raised) -> None:
    draft = proposer("search").propose(replace(PLAIN, pointed=(replace(AGAINST, trust=trust),)))
    assert (draft.hypothesis.strategy == "flags.optimise") is raised
