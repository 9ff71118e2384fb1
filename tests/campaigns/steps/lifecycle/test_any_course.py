"""Whatever happens to a campaign, in whatever order, it stays lawful (R40, R44, R45, R50).

Events are drawn at random: what each round's candidates and repairs do, when a worker dies between
two writes, when people pause, stop, and answer a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaigns.models import (
    Campaign,
    CampaignState,
    IllegalTransition,
    RestartAnswer,
    Round,
    RoundState,
)
from campaigns.records.stop_history import masked_rounds
from campaigns.rules.stop.ladder import MOST_REPAIRS
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.steps.lifecycle.control import pause, resume, stop
from campaigns.steps.lifecycle.restart import answer_restart
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Mender
from tests.campaigns.steps.lifecycle.test_crash import Killed, killed_before_write, work

pytestmark = [pytest.mark.django_db(transaction=True)]

KERNELS = st.sampled_from(["time 200", "time 100", "time 60", "time 40", "crash", "wrong", "host"])
PEOPLE: dict[str, Callable[[Campaign], object]] = {
    "pause": pause,
    "resume": resume,
    "stop": stop,
    "take": partial(answer_restart, answer=RestartAnswer.TAKEN),
    "decline": partial(answer_restart, answer=RestartAnswer.DECLINED),
}
ROUNDS = st.lists(st.lists(KERNELS, min_size=1, max_size=2), min_size=1, max_size=7)
MOMENTS = st.lists(st.tuples(st.integers(1, 40), st.sampled_from(["", *PEOPLE])), max_size=4)


class Numbered(Mender):
    """Goes by the round's number, as a restart hides history; mends each failure in its own way."""

    def propose(self, situation: Any) -> Any:
        round_ = situation.seed - 7
        if round_ > len(self.rounds):
            return None
        hidden = [a.round for a in situation.history]
        again = cast.Script(self.rounds[round_ - 1 : round_])
        self.seen.append((round_ + 1, hidden))
        return again.propose(cast.replace(situation, history=()))


@contextmanager
def a_worker_of_its_own() -> Any:
    """The holder of every claim is the process that was killed; samples are judged quickly."""

    @contextmanager
    def no_hold(*_: Any, **__: Any) -> Any:
        yield

    with (
        patch("campaigns.steps.measuring.claims.is_gone", lambda holder: True),
        patch("campaigns.steps.measuring.evaluate.hold", no_hold),
        patch("campaigns.evaluator.contract.intervals.RESAMPLES", 50),
    ):
        yield


def by_a_person(campaign: Campaign, verb: str) -> None:
    """What is not legal at the moment is refused, and changes nothing."""
    if not verb:
        return
    now = cast.fresh(campaign)
    try:
        PEOPLE[verb](now)
    except IllegalTransition:
        assert cast.fresh(campaign).state == cast.fresh(now).state


def assert_lawful(campaign: Campaign) -> None:
    campaign = cast.fresh(campaign)
    cast.assert_legal_course(campaign)
    rounds = list(campaign.rounds.order_by("number"))
    assert [r.number for r in rounds] == list(range(1, len(rounds) + 1))
    assert sum(r.state != RoundState.CLOSED for r in rounds) <= 1
    best: Round | None = None
    for round_ in rounds:
        if round_.number > 1:
            # The other arm was the incumbent of its time, whatever was rolled back in between.
            assert best is not None
            assert round_.against_id == best.chosen_id
        assert round_.repairs.count() <= MOST_REPAIRS
        if round_.state != RoundState.CLOSED:
            continue
        verdict = round_.verdict
        assert Reason(verdict.reason).verdict == verdict.word
        if verdict.word == VerdictWord.ACCEPTED:
            assert round_.number == 1 or (verdict.gain is not None and verdict.gain_low > 0)
            best = round_
    if best is not None:
        assert campaign.incumbent_id == best.chosen_id
        assert not {1, best.number} & masked_rounds(campaign)
    told = campaign.events.filter(kind="round_closed").count()
    assert told == sum(r.state == RoundState.CLOSED for r in rounds)


@pytest.mark.long
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rounds=ROUNDS, moments=MOMENTS, policy=st.sampled_from(["take", "decline", "ask"]))
def test_r50_no_order_of_events_crashes_and_restarts_is_unlawful(
    bench: WorkerContext, rounds: list[list[str]], moments: list[tuple[int, str]], policy: str
) -> None:
    mender = Numbered(rounds, repairs=["time 80", "crash", "wrong"])
    with (
        a_worker_of_its_own(),
        patch("campaigns.steps.rounds.propose.proposer", lambda name: mender),
        patch("campaigns.steps.rounds.repair.proposer", lambda name: mender),
    ):
        campaign = cast.make_campaign(Path(mkdtemp()), restart=policy)
        for number, verb in moments:
            try:
                with killed_before_write(number):
                    live(campaign, bench)
            except Killed:
                assert_lawful(campaign)
            by_a_person(campaign, verb)
            assert_lawful(campaign)
        end(campaign, bench)
    assert_lawful(campaign)
    assert cast.fresh(campaign).state in (CampaignState.DONE, CampaignState.ABORTED)


def live(campaign: Campaign, bench: WorkerContext) -> None:
    """Work until nothing is left, or until only a person can say how it goes on."""
    try:
        work(bench)
    except AssertionError:
        assert cast.fresh(campaign).state == CampaignState.RESTART


def end(campaign: Campaign, bench: WorkerContext) -> None:
    for _ in range(4):
        live(campaign, bench)
        state = cast.fresh(campaign).state
        if state == CampaignState.PAUSED:
            resume(cast.fresh(campaign))
        elif state == CampaignState.RESTART:
            answer_restart(cast.fresh(campaign), RestartAnswer.TAKEN)
