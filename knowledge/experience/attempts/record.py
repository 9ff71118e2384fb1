"""Write an attempt down, in one transaction with its context's record and the search index."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.experience.attempts.disagreements import find_disagreements
from knowledge.experience.attempts.index import index_entries
from knowledge.experience.attempts.standing import refresh
from knowledge.experience.catalogue.names import StrategyNames, load_names, place_of
from knowledge.experience.lessons.weigh import weigh_lessons
from knowledge.experience.terms import (
    AttemptLabel,
    Bottleneck,
    family_of,
    idea_key,
    shape_class,
    size_log2,
)
from knowledge.models import (
    Batch,
    EntryStanding,
    Experience,
    ExperienceOrigin,
    ProjectWork,
    TrackRecord,
    WorkKind,
)
from knowledge.models.sight import NO_PROJECT

# Columns of a row that are fields of `NewExperience` as they are.
AS_THEY_ARE = (
    *("origin", "label", "campaign", "round", "proposer", "problem", "change", "precondition"),
    *("verdict", "reason", "gain", "gain_low", "gain_high", "pairs", "baseline", "expected_gain"),
    *("borne", "notes", "external"),
)


@dataclass(frozen=True, slots=True)
class NewExperience:
    """One attempt as plain values; see `knowledge.models.experience` for their meaning.

    strategy: as its source names it. platform: a slug of the wiki or a name; arch: needed only
    where the platform is not in the wiki. shapes: the sizes of each measured case.
    scope_class: the config class that it is about; "" for the class that follows from the shapes.
    named: what its source calls the strategy, where `strategy` is the catalogue's name for that.
    uuid: of an entry that comes back from a file; "" makes a new one.
    """

    strategy: str
    label: AttemptLabel
    origin: ExperienceOrigin
    op: str = ""
    dtype: str = ""
    backend: str = ""
    platform: str = ""
    arch: str = ""
    bottleneck: Bottleneck = Bottleneck.UNKNOWN
    shapes: Sequence[Mapping[str, Any]] = ()
    scope_class: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    change: str = ""
    evidence: Sequence[str] = ()
    precondition: str = ""
    problem: str = ""
    proposer: str = ""
    verdict: str = ""
    reason: str = ""
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    pairs: int = 0
    baseline: str = ""
    expected_gain: float | None = None
    borne: str = ""
    compiler: str = ""
    driver: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""
    external: str = ""
    masked: bool = False
    campaign: int | None = None
    round: int | None = None
    happened_at: datetime.datetime | None = None
    named: str = ""
    uuid: str = ""


def record_attempts(
    attempts: Iterable[NewExperience], *, by: Any = None, batch: Batch | None = None
) -> list[Experience]:
    """Store attempts, in their order. by: the user, or None for the flow and for commands.

    A round that has been recorded already is left out. All or nothing.
    """
    listed = list(attempts)
    with transaction.atomic():
        tracks: dict[tuple[Any, ...], TrackRecord] = {}
        names = load_names()
        campaigns = {each.campaign for each in listed if each.campaign is not None}
        rounds = Experience.objects.filter(campaign__in=campaigns)
        known = set(rounds.values_list("campaign", "round"))
        works = ProjectWork.objects.filter(kind=WorkKind.CAMPAIGN, key__in=campaigns)
        projects: dict[int | None, int] = dict(works.values_list("key", "project"))
        rows = [
            _row(each, _track(each, names, projects, tracks), by, batch)
            for each in listed
            if (each.campaign, each.round) not in known
        ]
        made = Experience.objects.bulk_create(rows)
        refresh(row.track_id for row in made)
        index_entries(made)
        weigh_lessons(made)
        find_disagreements(made)
    return made


def _track(
    attempt: NewExperience,
    names: StrategyNames,
    projects: Mapping[int | None, int],
    known: dict[tuple[Any, ...], TrackRecord],
) -> TrackRecord:
    place = place_of(attempt.platform, attempt.arch)
    size = size_log2(attempt.shapes)
    context = {
        "strategy": names.slug(attempt.strategy, attempt.backend),
        "op": attempt.op,
        "dtype": attempt.dtype,
        "backend": attempt.backend,
        "platform": place.platform,
        "arch": place.arch,
        "shape_class": attempt.scope_class or shape_class(size),
        "bottleneck": attempt.bottleneck,
        "project": projects.get(attempt.campaign, NO_PROJECT),
    }
    key = tuple(context.values())
    if key not in known:
        derived = {"family": family_of(attempt.op), "vendor": place.vendor, "size_log2": size}
        known[key], _ = TrackRecord.objects.get_or_create(**context, defaults=derived)
    return known[key]


def _row(attempt: NewExperience, track: TrackRecord, by: Any, batch: Batch | None) -> Experience:
    columns: dict[str, Any] = {name: getattr(attempt, name) for name in AS_THEY_ARE}
    return Experience(
        **columns,
        uuid=uuid.UUID(attempt.uuid) if attempt.uuid else uuid.uuid4(),
        track=track,
        standing=EntryStanding.MASKED if attempt.masked else EntryStanding.COUNTS,
        strategy_name=(attempt.named or attempt.strategy)[:300],
        title=attempt.title[:300],
        evidence=list(attempt.evidence),
        shapes=[dict(shape) for shape in attempt.shapes],
        params=dict(attempt.params),
        params_key=idea_key(track.strategy, attempt.params),
        compiler=attempt.compiler[:200],
        driver=attempt.driver[:100],
        metrics=dict(attempt.metrics),
        batch=batch,
        author=by,
        happened_at=attempt.happened_at or timezone.now(),
    )
