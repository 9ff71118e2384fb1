"""The one place that knows which state may follow which (R50, R56).

`move` changes a state by a conditional UPDATE and checks the row count: of two workers that try
the same step exactly one wins. The models refuse every other change of state.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from django.db import models, transaction

from campaigns.rules.stop.policy import Stop
from knowledge.models.guarded import Guarded, GuardedQuerySet, Row
from knowledge.models.sight import SeenManager


class CampaignState(models.TextChoices):
    DRAFT = "draft"
    CONFIRMED = "confirmed"
    PREPARE = "prepare"
    BASELINE = "baseline"
    PROFILE = "profile"
    ANALYZE = "analyze"
    AWAITING = "awaiting"
    IMPLEMENT = "implement"
    VALIDATE = "validate"
    REPAIR = "repair"
    DECIDE = "decide"
    STAGNATION = "stagnation"
    RESTART = "restart"
    REPORT = "report"
    PAUSED = "paused"
    DONE = "done"
    ABORTED = "aborted"

    @property
    def words(self) -> str:
        """What the campaign is doing, for people."""
        return _DOING.get(self, str(self))


class RoundState(models.TextChoices):
    OPEN = "open"
    SCREENED = "screened"
    CLAIMED = "claimed"
    JUDGED = "judged"
    CLOSED = "closed"

    @property
    def words(self) -> str:
        """The progress of a round, for people."""
        return _COME_TO.get(self, str(self))


class EvaluationState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class RepositoryState(models.TextChoices):
    OPEN = "open"
    STOPPED = "stopped"


C, R, E = CampaignState, RoundState, EvaluationState

# States that are not listed are readable as they are: draft, paused, done, aborted, judged.
_DOING: dict[str, str] = {
    C.CONFIRMED: "waiting for a worker",
    C.PREPARE: "setting the target",
    C.BASELINE: "measuring the baseline",
    C.PROFILE: "collecting facts about the incumbent",
    C.ANALYZE: "choosing what to try",
    C.AWAITING: "waiting for a candidate to be handed in",
    C.IMPLEMENT: "storing the candidates",
    C.VALIDATE: "measuring",
    C.REPAIR: "repairing",
    C.DECIDE: "judging",
    C.STAGNATION: "reviewing what was tried",
    C.RESTART: "deciding on a partial restart",
    C.REPORT: "writing the report",
}
_COME_TO: dict[str, str] = {
    R.OPEN: "not judged yet",
    R.SCREENED: "variants screened, best one not judged yet",
    R.CLAIMED: "gain claimed, second session pending",
}

FINISHED = frozenset({C.DONE, C.ABORTED})
WORKING = frozenset(C) - FINISHED - {C.DRAFT, C.PAUSED}
# The report is included: its last measurement may wait for a device.
PAUSABLE = WORKING
# The course of a campaign; every working state may also be paused and aborted.
COURSE: dict[str, frozenset[str]] = {
    C.CONFIRMED: frozenset({C.PREPARE}),
    C.PREPARE: frozenset({C.BASELINE}),
    C.BASELINE: frozenset({C.DECIDE}),
    C.PROFILE: frozenset({C.ANALYZE}),
    C.ANALYZE: frozenset({C.IMPLEMENT, C.AWAITING, C.REPORT}),
    # Only where people or agents are to propose; the wait ends by what is handed in, or by a limit.
    C.AWAITING: frozenset({C.ANALYZE, C.REPORT}),
    C.IMPLEMENT: frozenset({C.VALIDATE}),
    C.VALIDATE: frozenset({C.DECIDE}),
    # A repairable failure is repaired within its round; a closed round leads to the ladder (R48).
    C.DECIDE: frozenset({C.PROFILE, C.REPAIR, C.STAGNATION, C.RESTART, C.REPORT}),
    C.REPAIR: frozenset({C.VALIDATE, C.DECIDE}),
    C.STAGNATION: frozenset({C.PROFILE}),
    C.RESTART: frozenset({C.PROFILE, C.REPORT}),
    C.REPORT: frozenset({C.DONE}),
}

LEGAL: dict[str, frozenset[str]] = {
    f"campaign.{C.DRAFT}": frozenset({C.CONFIRMED, C.ABORTED}),
    **{f"campaign.{at}": then | {C.PAUSED, C.ABORTED} for at, then in COURSE.items()},
    f"campaign.{C.PAUSED}": PAUSABLE | {C.ABORTED},
    f"round.{R.OPEN}": frozenset({R.SCREENED, R.CLAIMED, R.JUDGED}),
    f"round.{R.SCREENED}": frozenset({R.CLAIMED, R.JUDGED}),
    # A claimed gain is measured again, and judged by both sessions.
    f"round.{R.CLAIMED}": frozenset({R.JUDGED}),
    f"round.{R.JUDGED}": frozenset({R.CLOSED}),
    **{
        f"{kind}.{at}": frozenset(then)
        for kind in ("evaluation", "repositoryround")
        for at, then in ((E.QUEUED, (E.RUNNING, E.DONE)), (E.RUNNING, (E.QUEUED, E.DONE)))
    },
    f"repository.{RepositoryState.OPEN}": frozenset({RepositoryState.STOPPED}),
}


class IllegalTransition(Exception):
    """The requested state may not follow the current one."""


def is_legal(kind: str, before: str, after: str) -> bool:
    return after in LEGAL.get(f"{kind}.{before}", frozenset())


def require_legal(kind: str, before: str, after: str) -> None:
    """Raise IllegalTransition, naming what may follow `before`."""
    if not is_legal(kind, before, after):
        allowed = ", ".join(sorted(LEGAL.get(f"{kind}.{before}", ()))) or "nothing"
        raise IllegalTransition(f"{kind}: {before} → {after} is not legal; accepted: {allowed}")


def move(row: models.Model, after: str, *only: models.Q, **also: Any) -> bool:
    """Move `row` from the state it was read in to `after`; False if another process was first.

    `also` are further fields to set in the same UPDATE; `only`, and each `<field>__is` key, are
    further conditions of it. Raises IllegalTransition before touching the database.
    """
    kind = row._meta.model_name or ""
    before: str = row.state  # type: ignore[attr-defined]
    require_legal(kind, before, after)
    conditions = {k.removesuffix("__is"): v for k, v in also.items() if k.endswith("__is")}
    values = {k: v for k, v in also.items() if not k.endswith("__is")}
    rows = type(row)._default_manager.filter(*only, pk=row.pk, state=before, **conditions)
    with transaction.atomic():
        if not claim(rows, state=after, **values):
            return False
        for name, value in {"state": after, **values}.items():
            setattr(row, name, value)
        row.after_move()  # type: ignore[attr-defined]
    return True


def claim(rows: models.QuerySet[Any], **values: Any) -> bool:
    """Change exactly one row by a conditional UPDATE; False when the condition no longer holds.

    This bypasses the model guard of sealed rows on purpose: the caller gives the condition, and the
    database trigger still refuses a sealed row. Raises ValueError for a condition with a join: it
    would make of the whole condition a subquery, which PostgreSQL does not look at again when
    another process has changed the row meanwhile, so that both would win.
    """
    if rows.query.count_active_tables() > 1:
        raise ValueError(f"a claim of {rows.model.__name__} joins; accepted: `__in`, `Exists`")
    return models.QuerySet.update(rows, **values) == 1


class StatefulQuerySet(GuardedQuerySet[Row]):
    """Refuses changes of state in bulk; only `move` changes a state."""

    def update(self, **kwargs: Any) -> int:
        self._refuse_state(kwargs, "update")
        return super().update(**kwargs)

    def bulk_update(
        self, objs: Iterable[Row], fields: Iterable[str], batch_size: int | None = None
    ) -> int:
        names = list(fields)
        self._refuse_state(names, "bulk_update")
        return super().bulk_update(objs, names, batch_size)

    def _refuse_state(self, names: Container[str], way: str) -> None:
        if "state" in names:
            kind = self.model._meta.model_name
            raise IllegalTransition(f"{kind}: state is changed by transitions.move, not by {way}")


class Stateful(Guarded):
    """Base of rows that start in their first state and change it through `move` alone."""

    objects = SeenManager.from_queryset(StatefulQuerySet)()  # type: ignore[assignment, misc]

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        fields = kwargs.get("update_fields")
        if not self._state.adding and (fields is None or "state" in fields):
            self._refuse_other_state()
        super().save(*args, **kwargs)

    def refuse_late(self) -> None:
        self._refuse_other_state()

    def after_move(self) -> None:
        """Runs within the transaction of each change of state; models override it."""

    def _refuse_other_state(self) -> None:
        """This also refuses a stale row, which would undo another worker's change of state."""
        state: str = self.state  # type: ignore[attr-defined]
        new: Any = type(self)()
        rows: models.QuerySet[Any] = type(self)._default_manager.filter(pk=self.pk)
        lawful = rows.values_list("state", flat=True).first() or new.state
        if state != lawful:
            raise IllegalTransition(
                f"{self._meta.model_name}: state {lawful} is changed to {state} by "
                "transitions.move, not by save"
            )


def stopping(stop: Stop) -> dict[str, Any]:
    """The fields of a campaign whose search ends for this reason."""
    return {
        "state": CampaignState.REPORT,
        "stop_reason": stop.reason.value,
        "stop_sentence": stop.sentence,
    }
