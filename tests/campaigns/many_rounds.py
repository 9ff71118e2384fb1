"""A campaign of so many rounds, invented: what a page has to stay readable with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Model, QuerySet
from django.utils import timezone

from campaigns.models import Campaign, Candidate, Round, RoundState, Verdict
from tests.campaigns.sample import build_sample
from tests.kept_rows import additions_allowed

# (verdict, reason, gain) of the rounds in turn; one in 40 is accepted instead.
OUTCOMES = (
    ("no_change", "within_noise", 0.002),
    ("rejected", "slower", -0.1),
    ("no_change", "within_noise", 0.004),
    ("invalid", "above_roof", 1.6),
    ("no_change", "within_noise", -0.001),
)
ACCEPTED_EVERY, ACCEPTED = 40, ("accepted", "promoted", 0.05)


def build_many_rounds(rounds: int = 500) -> Campaign:
    """Go on from the running sample, whose fourth round stays the open one."""
    campaign = build_sample(rounds=3, running=True)
    like = campaign.rounds.get(number=3)
    tables = [model._meta.db_table for model in (Round, Candidate, Verdict)]
    best = like.chosen_id
    keys = _last(Round), _last(Candidate)
    made: dict[type[Model], list[Any]] = {Round: [], Candidate: [], Verdict: []}
    for step, number in enumerate(range(5, rounds + 1), 1):
        outcome = OUTCOMES[number % len(OUTCOMES)] if number % ACCEPTED_EVERY else ACCEPTED
        round_, candidate = keys[0] + step, keys[1] + step
        made[Round].append(_round(like, number, {"pk": round_, "chosen_id": candidate}, best))
        made[Candidate].append(
            Candidate(
                pk=candidate, round_id=round_, ordinal=1, label="one",
                file_name="a.cu", text="//", digest="0" * 64,
            )
        )  # fmt: skip
        made[Verdict].append(_verdict(like.verdict, round_, *outcome))
        best = candidate if outcome is ACCEPTED else best
    with transaction.atomic(), additions_allowed(tables):
        for model, rows in made.items():
            _insert(model, rows)
    Campaign.objects.filter(pk=campaign.pk).update(incumbent=best)
    campaign.refresh_from_db()
    return campaign


def _last(model: type[Model]) -> int:
    found: int = model._default_manager.aggregate(last=Max("pk"))["last"]
    return found


def _insert(model: type[Model], rows: Iterable[Any]) -> None:
    # The plain query set: the model's own adds no closed round.
    QuerySet(model).bulk_create(rows)


def _round(like: Round, number: int, keys: dict[str, int | None], best: int | None) -> Round:
    return Round(
        **keys,
        campaign_id=like.campaign_id,
        number=number,
        state=RoundState.CLOSED,
        hypothesis={**like.hypothesis, "title": f"Try tile shape {number}"},
        against_id=best,
        closed_at=timezone.now() + timedelta(seconds=30),
    )


def _verdict(like: Verdict, round_id: int, word: str, reason: str, gain: float) -> Verdict:
    bounds = {"gain": gain, "gain_low": gain - 0.01, "gain_high": gain + 0.01}
    return Verdict(
        round_id=round_id,
        evaluation_id=like.evaluation_id,
        word=word,
        reason=reason,
        sentence="Invented.",
        pairs=10,
        cases=[{**case, **bounds} for case in like.cases],
        **bounds,
    )
