"""What others learned, for the pages of campaigns: a few rows of each kind, in few queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from knowledge.experience.attempts.summary import strategy_urls
from knowledge.experience.catalogue.names import catalogue_slug, place_of
from knowledge.experience.lessons.ask import lessons_for
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Hit, Question
from knowledge.experience.wording import gain_words
from knowledge.models import Adoption, Experience, Gap, GapState, Lesson, TrackRecord

MOST = 5


@dataclass(frozen=True, slots=True)
class LinkedHit:
    """A strategy with its page, and its numbers in words."""

    hit: Hit
    url: str

    @property
    def words(self) -> str:
        hit = self.hit
        told = gain_words(hit.gain_median, hit.gain_low, hit.gain_high)
        told = told if hit.gain_median is None else f"median {told} vs each incumbent"
        return f"{hit.worked} of {hit.tried} worked, {told}" if hit.tried else ""

    @property
    def why(self) -> str:
        return "; ".join(reason.words for reason in self.hit.reasons)


@dataclass(frozen=True, slots=True)
class OthersLearned:
    """What worked and what did not, lessons in use and open questions of one scope."""

    scope: str = ""
    hits: tuple[LinkedHit, ...] = ()
    avoid: tuple[LinkedHit, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.hits or self.avoid or self.lessons or self.gaps)


@dataclass(frozen=True, slots=True)
class RoundLearned:
    """What a round is to the team's experience.

    entry: as it was written down; followed: entries that it followed; lessons: those it followed;
    used_by: the rounds that followed it; elsewhere: the same strategy in other contexts.
    """

    entry: Experience | None
    followed: tuple[Experience, ...]
    lessons: tuple[Lesson, ...]
    used_by: tuple[Adoption, ...]
    elsewhere: tuple[TrackRecord, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.entry or self.followed or self.lessons or self.elsewhere)


def others_learned(*, op: str, backend: str, platform: str, dtype: str = "") -> OthersLearned:
    """At most five of each kind for this scope; nothing without an operation."""
    if not op:
        return OthersLearned()
    arch = place_of(platform).arch
    found = recommend(Question(op, backend, platform, arch, dtype), MOST)
    lessons = lessons_for(
        op=op, backend=backend, platform=platform, arch=arch, dtype=dtype, limit=MOST
    )
    urls = strategy_urls(hit.strategy for hit in (*found.hits, *found.avoid))
    # Open questions about this scope, those about the platform first.
    gaps = Gap.objects.filter(state=GapState.OPEN, op=op)
    gaps = gaps.filter(backend__in=("", backend), platform__in=("", platform))
    return OthersLearned(
        scope=found.scope,
        hits=tuple(LinkedHit(hit, urls[hit.strategy]) for hit in found.hits),
        avoid=tuple(LinkedHit(hit, urls[hit.strategy]) for hit in found.avoid),
        lessons=tuple(lessons),
        gaps=tuple(gaps.order_by("-platform", "-pk")[:MOST]),
    )


def round_learned(
    campaign: int, number: int, strategy: str, backend: str, follows: Sequence[str] = ()
) -> RoundLearned:
    """What is known of one round. strategy: as the round names it; "" of the baseline.

    follows: the UUIDs that its hypothesis names.
    """
    entry = Experience.objects.filter(campaign=campaign, round=number).select_related("track")
    own = entry.first()
    adopted = Adoption.objects.filter(campaign=campaign, round=number)
    by_row = {key for key in adopted.values_list("entry", flat=True) if key}
    named = Q(pk__in=by_row) | Q(uuid__in=[UUID(key) for key in follows])
    slug = own.track.strategy if own else catalogue_slug(strategy, backend)
    tracks = TrackRecord.objects.filter(strategy=slug, tried__gt=0)
    if own is not None:
        tracks = tracks.exclude(pk=own.track_id)
    return RoundLearned(
        entry=own,
        followed=tuple(Experience.objects.filter(named).select_related("track")[:MOST]),
        lessons=tuple(Lesson.objects.filter(adoptions__in=adopted).distinct()[:MOST]),
        used_by=tuple(own.adoptions.all()[:MOST]) if own else (),
        elsewhere=tuple(tracks.order_by("-tried")[:MOST]) if slug else (),
    )
