"""Which state may follow which, and that exactly one of two workers wins (R50)."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from campaigns.models import Campaign, CampaignState, EvaluationState, IllegalTransition, RoundState
from campaigns.models.campaign import AbortReason
from campaigns.models.transitions import LEGAL, is_legal, move, require_legal
from campaigns.rules.stop.policy import StopReason
from tests.campaigns.steps import cast

KINDS = {"campaign": CampaignState, "round": RoundState, "evaluation": EvaluationState}
PAIRS = [(k, a, b) for k, states in KINDS.items() for a, b in product(states, states)]
# Written out once more by hand: what a person may see a record do.
EXPECTED = {
    "campaign": """
        draft confirmed aborted | confirmed prepare paused aborted
        prepare baseline paused aborted | baseline decide paused aborted
        profile analyze paused aborted | analyze awaiting implement report paused aborted
        awaiting analyze report paused aborted
        implement validate paused aborted | validate decide paused aborted
        decide profile repair stagnation restart report paused aborted
        repair validate decide paused aborted | stagnation profile paused aborted
        restart profile report paused aborted | report done paused aborted
        paused confirmed prepare baseline profile analyze awaiting implement validate repair aborted
        paused decide stagnation restart report
    """,
    "round": """
        open screened claimed judged | screened claimed judged
        claimed judged | judged closed
    """,
    "evaluation": "queued running done | running queued done",
}


def expected(kind: str) -> set[tuple[str, str]]:
    lines = EXPECTED[kind].replace("\n", "|").split("|")
    split = [line.split() for line in lines if line.strip()]
    return {(before, after) for before, *afters in split for after in afters}


@pytest.mark.parametrize(("kind", "before", "after"), PAIRS)
def test_r50_it_accepts_legal_transitions_and_refuses_every_other(
    kind: str, before: str, after: str
) -> None:
    legal = (before, after) in expected(kind)
    assert is_legal(kind, before, after) is legal
    if not legal:
        with pytest.raises(IllegalTransition, match=f"{kind}: {before} → {after}"):
            require_legal(kind, before, after)


def test_it_leads_nowhere_from_a_finished_state() -> None:
    for last in ("campaign.done", "campaign.aborted", "round.closed", "evaluation.done"):
        assert last not in LEGAL


@pytest.fixture
def campaign(db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Campaign:
    cast.set_the_scene(monkeypatch)
    return cast.make_campaign(tmp_path)


@pytest.mark.storage
def test_it_lets_one_of_two_workers_win(campaign: Campaign) -> None:
    first, second = cast.fresh(campaign), cast.fresh(campaign)
    assert move(first, CampaignState.PREPARE)
    assert not move(second, CampaignState.PREPARE)
    assert cast.fresh(campaign).state == CampaignState.PREPARE


def test_it_refuses_a_state_written_by_hand(campaign: Campaign) -> None:
    campaign.state = CampaignState.DONE
    with pytest.raises(IllegalTransition, match="not by save"):
        campaign.save()


def test_it_refuses_a_state_changed_in_bulk(campaign: Campaign) -> None:
    with pytest.raises(IllegalTransition, match="not by update"):
        Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.DONE)
    with pytest.raises(IllegalTransition, match="not by bulk_update"):
        Campaign.objects.bulk_update([campaign], ["title", "state"])
    assert Campaign.objects.filter(pk=campaign.pk).update(title="renamed") == 1
    assert cast.fresh(campaign).state == CampaignState.CONFIRMED


def test_it_does_not_save_a_row_back_to_the_state_it_was_read_in(campaign: Campaign) -> None:
    stale = cast.fresh(campaign)
    move(campaign, CampaignState.PREPARE)
    with pytest.raises(IllegalTransition, match="state prepare is changed to confirmed"):
        stale.save()
    stale.title = "renamed"
    stale.save(update_fields=["title"])
    assert cast.fresh(campaign).state == CampaignState.PREPARE


def test_it_saves_other_fields_after_a_refresh(campaign: Campaign) -> None:
    move(cast.fresh(campaign), CampaignState.PREPARE)
    campaign.refresh_from_db()
    campaign.title = "renamed"
    campaign.save()
    assert cast.fresh(campaign).title == "renamed"


@pytest.mark.parametrize(
    "name", ["validate", "profile", "analyze", "awaiting", "implement", "decide"]
)
def test_it_has_words_for_a_state_whose_name_tells_nobody_anything(name: str) -> None:
    assert name not in CampaignState(name).words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("", ""),
        (StopReason.USER, "a person asked"),
        (AbortReason.USER, "a person asked"),
        (StopReason.NO_IDEAS_LEFT, "no ideas left"),
    ],
)
def test_why_it_stopped_is_told_in_words(reason, words):
    assert Campaign(stop_reason=reason).stop_words == words
