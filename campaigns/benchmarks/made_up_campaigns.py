"""Campaigns that nobody ran: one is played through the real steps, and its rows are copied.

Times and gains are invented, and go nowhere but into a database that is thrown away.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone

from campaigns.evaluator.contract import CaseReport, Outcome, Phase, Report, Timer, Timing
from campaigns.models import (
    Campaign,
    Candidate,
    Commit,
    Evaluation,
    EvaluationState,
    Event,
    Evidence,
    Round,
    Standing,
    Submission,
    Verdict,
)
from campaigns.models import Phase as CampaignPhase
from campaigns.models.transitions import claim
from campaigns.proposers.handed_in import HandedIn
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.measuring.results import record_report
from campaigns.steps.rounds.submit import submit
from knowledge.search.index import rebuild

SHIPPED = settings.BASE_DIR / "campaigns" / "problems" / "softmax"
PLATFORM = "h200-sxm"
SEED = 41
PAIRS = 10
V0_US = 3.0  # of the smallest case; the others have as many times more to move
UNFINISHED = 3
# What is handed in, and how many times as fast it is; None is wrong. The last one is accepted.
IDEAS: tuple[tuple[str, float | None], ...] = (
    ("Give each row a whole block", 2.31),
    ("Compile with other flags", 1.001),
    ("Unroll the first loop by four", 0.93),
    ("Leave out the subtraction of the peak", None),
    ("Multiply by the reciprocal of the sum", 1.02),
)
# Of the copies every tenth is accepted, as the last idea is.
ACCEPTED_EVERY = 10
# Keys of copies are so far apart; a played campaign has fewer rows of any kind.
STRIDE = 10_000
OF_A_CAMPAIGN: Mapping[type[models.Model], str] = {
    Campaign: "pk",
    CampaignPhase: "campaign",
    Submission: "campaign",
    Evidence: "campaign",
    Round: "campaign",
    Candidate: "round__campaign",
    Evaluation: "candidate__round__campaign",
    Verdict: "round__campaign",
    Standing: "round__campaign",
    Commit: "round__campaign",
    Event: "campaign",
}
OF_A_ROUND: Mapping[type[models.Model], str] = {
    Submission: "rounds",
    Round: "pk",
    Candidate: "round",
    Evaluation: "candidate__round",
    Verdict: "round",
    Standing: "round",
    Commit: "round",
    Event: "round",
}


class Player:
    """Hands ideas in and measures them, for one campaign."""

    def __init__(self, folder: Path, cases: int, person: Any) -> None:
        self.dice = random.Random(SEED)
        self.gain: float | None = 1.0
        self.times: dict[int, float] = {}
        problem = folder / "softmax"
        copytree(SHIPPED, problem)
        head = (problem / "problem.toml").read_text().partition("[[case]]")[0]
        each = (
            f'[[case]]\nname = "{rows}x1024"\non = ["gpu"]\nparams = {{ N = {rows}, D = 1024 }}\n'
            for rows in range(256, 256 * (cases + 1), 256)
        )
        (problem / "problem.toml").write_text(head + "\n".join(each))
        wish = Wish(
            problem=problem,
            platform=PLATFORM,
            backend="cuda",
            policy=StopPolicy(max_rounds=len(IDEAS) + 1, target_fraction=1.0),
            proposers={ProposerKind.PERSON: None},
            title="Row softmax, made up",
            seed=SEED,
            created_by=person,
        )
        self.campaign = create_campaign(wish)
        self.person = person

    def play(self) -> None:
        """All ideas but the last, until the campaign waits for it."""
        confirm(self.campaign)
        self._advance()
        for title, gain in IDEAS[:-1]:
            self._hand_in(title, gain)
            self._advance()

    def finish(self) -> None:
        """The last idea, after which the best is measured against v0."""
        self._hand_in(*IDEAS[-1])
        self._advance()

    def _hand_in(self, title: str, gain: float | None) -> None:
        best = self.campaign.incumbent
        assert best is not None
        text = best.text.replace("\nextern", f"\n// {title}\nextern", 1)
        handed = HandedIn(
            text,
            title,
            change=f"{title}.",
            rationale="The kernel is bound by memory.",
            metric="time_us",
            direction="down",
            amount="8%",
            evidence=(self.campaign.cases[0],),
        )
        self.gain = gain
        submit(self.campaign, handed, "person", self.person.username, self.person)

    def _advance(self) -> None:
        """Until only a person can go on."""
        while True:
            waiting = Evaluation.objects.filter(state=EvaluationState.QUEUED).order_by("pk")
            for evaluation in waiting:
                self._measure(evaluation)
            again = advance(self.campaign)
            self.campaign.refresh_from_db()
            if not again.again and not again.measure:
                return

    def _measure(self, evaluation: Evaluation) -> None:
        now = timezone.now()
        held = {"holder": "bench:1", "started_at": now, "heartbeat_at": now}
        claim(Evaluation.objects.filter(pk=evaluation.pk), state=EvaluationState.RUNNING, **held)
        evaluation.refresh_from_db()
        record_report(evaluation, self._report(evaluation))

    def _report(self, evaluation: Evaluation) -> Report:
        against, own = evaluation.against_id, evaluation.candidate_id
        gain = self.gain
        rival = self.times.get(against or 0, V0_US)
        time = self.times.setdefault(own, rival / (gain or 1.0))
        names = evaluation.campaign.cases
        return Report(
            job_id=str(evaluation.pk),
            outcome=Outcome.PASSED if gain else Outcome.WRONG_RESULT,
            phase=Phase.DONE,
            reason="" if gain else f"{names[0]}: 262,144 of 262,144 values are wrong",
            cases=tuple(self._case(name, (time, rival) if gain else None) for name in names),
            environment={"device": "NVIDIA H200", "driver": "570.86.15", "target": "sm_90a"},
            wall_s={"build": 3.8, "check": 0.9, "burst": 4.7},
        )

    def _case(self, name: str, times: tuple[float, float] | None) -> CaseReport:
        if times is None:
            return CaseReport(name, False, 5, 1.2, margin=9.4e3, message="row 17: nan")
        size = int(name.partition("x")[0]) / 256
        drift = [self.dice.gauss(1, 0.004) for _ in range(PAIRS)]
        own, rival = (self._timing(size * one, drift) for one in times)
        return CaseReport(name, True, 5, 3e-8, 6e-7, 0.005, candidate=own, incumbent=rival)

    def _timing(self, time_us: float, drift: Iterable[float]) -> Timing:
        samples = tuple(time_us * one * self.dice.gauss(1, 0.003) for one in drift)
        return Timing(samples, 512, 64, Timer.GRAPH, device_us=0.995 * time_us)


def fill_campaigns(folder: Path, campaigns: int, rounds: int, cases: int, person: Any) -> Campaign:
    """So many campaigns of a few rounds, but the one that is answered, which has `rounds`."""
    player = Player(folder, cases, person)
    player.play()
    played = player.campaign
    unguard()
    for n in range(1, UNFINISHED + 1):
        copy(played, OF_A_CAMPAIGN, n * STRIDE, timedelta(minutes=n))
    player.finish()
    for n in range(UNFINISHED + 1, campaigns):
        copy(played, OF_A_CAMPAIGN, n * STRIDE, timedelta(minutes=-n))
    templates = list(played.rounds.filter(number__gt=2).order_by("number"))
    *others, kept = templates
    for number in range(kept.number + 1, rounds + 1):
        is_kept = number % ACCEPTED_EVERY == 0
        template = kept if is_kept else others[number % len(others)]
        offset, later = (campaigns + number) * STRIDE, timedelta(minutes=number)
        copy(template, OF_A_ROUND, offset, later, {Round: {"number": number}})
        if is_kept:
            assert kept.chosen_id is not None
            best = kept.chosen_id + offset
            models.QuerySet(Campaign).filter(pk=played.pk).update(incumbent=best)
    rebuild()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    played.refresh_from_db()
    return played


def unguard() -> None:
    """Drop the triggers that keep records as they are: here nothing was recorded."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("SET session_replication_role = replica")
            return
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (name,) in cursor.execute(f"{triggers} AND name LIKE 'campaigns%'").fetchall():
            cursor.execute(f'DROP TRIGGER "{name}"')


def copy(
    owner: models.Model,
    paths: Mapping[type[models.Model], str],
    offset: int,
    later: timedelta,
    changes: Mapping[type[models.Model], Mapping[str, Any]] | None = None,
) -> None:
    """What belongs to the owner, with keys greater by `offset` and so much later.

    paths: table → how it refers to the owner.
    """
    rows = {m: list(m._default_manager.filter(**{path: owner.pk})) for m, path in paths.items()}
    copied = {model: {row.pk for row in found} for model, found in rows.items()}
    with transaction.atomic():
        for model, found in rows.items():
            for row in found:
                for field in model._meta.concrete_fields:
                    value = getattr(row, field.attname)
                    target = model if field.primary_key else field.related_model
                    if target is not None and value in copied.get(target, ()):
                        setattr(row, field.attname, value + offset)
                    elif isinstance(value, datetime):
                        setattr(row, field.attname, value + later)
                for name, value in (changes or {}).get(model, {}).items():
                    setattr(row, name, value)
            _insert(model, found)


def _insert(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    """Past the guards, and with the times that the rows have."""
    fields = model._meta.concrete_fields
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({places})", values
        )
