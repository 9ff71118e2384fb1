"""How the wiki has changed since targets were set, and which targets it would give now.

Nothing is rewritten: a target stays as it was set, in running campaigns and in finished ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, urlsplit

import msgspec
from django.urls import reverse

from campaigns.models import Campaign
from campaigns.records.campaigns import target_of
from campaigns.records.values import picked
from campaigns.rules.noise.gain import geomean
from campaigns.rules.target.ceilings import CampaignTarget, Ceilings, target_under
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.wording import duration
from knowledge.lookup.usage import Replacement, SpecUse
from knowledge.lookup.value import cited
from knowledge.models import DRIFT, Citation, Flag, Spec, SpecState
from knowledge.specs.citation import CitationError, CitationState, parse_citation
from knowledge.specs.cited import UNKNOWN, Cited
from knowledge.specs.facts import Rank

ROLES = ("bandwidth", "compute", "busy_share")
# Platform, metric, value as shown, path, first and last line, short hash of the revision.
Key = tuple[int, str, str, str, int, int, str]


class PinnedState(StrEnum):
    """What became of a pinned value. The first two need no attention."""

    OK = "ok"
    MOVED = "moved"
    CHANGED = "changed"
    LOST = "lost"
    SOURCE_MISSING = "source_missing"
    REPLACED = "replaced"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class PinnedSpec:
    """One cited ceiling of a target.

    role: of `ROLES`. used: the value with its citation as pinned. spec: where it came from; None
    where the wiki holds no such citation. successor: the value that answers its question now, or,
    while `decided` is false, the one that is proposed in its place.
    """

    role: str
    used: Cited
    spec: Spec | None
    state: PinnedState
    successor: Spec | None = None
    decided: bool = True

    @property
    def holds(self) -> bool:
        return self.state in (PinnedState.OK, PinnedState.MOVED)

    @property
    def cite_state(self) -> str:
        """The state of the citation; the lines of a replaced or retired value are unchanged."""
        states = set(CitationState)
        return self.state.value if self.state.value in states else CitationState.OK.value

    @property
    def swapped(self) -> bool:
        """Whether another value, or none, would take its place."""
        return self.state is PinnedState.RETIRED or self.successor is not None

    @property
    def words(self) -> str:
        """What became of it, in one sentence."""
        name, old = self.used.metric, self.used.display
        new = self.successor.shown if self.successor else ""
        if self.state is PinnedState.REPLACED:
            return f"{name} was revised from {old} to {new}."
        if self.state is PinnedState.RETIRED:
            return f"{name} {old} was retired; no approved value takes its place."
        sentence = _SENTENCES[self.state].format(name=name, old=old)
        return f"{sentence} {new} is proposed in its place." if new else sentence


class SpecValue(msgspec.Struct, frozen=True):
    """A cited value that a target rests on, and what stands in its place now.

    spec, successor: keys. now: the successor's value as shown.
    """

    role: str
    citation: str
    href: str
    state: PinnedState
    words: str
    spec: int | None
    successor: int | None
    now: str | None
    decided: bool


def spec_value(pin: PinnedSpec) -> SpecValue:
    """One pin as plain data has it."""
    spec, successor = pin.spec, pin.successor
    return SpecValue(
        **picked(pin, "role state words decided"),
        **picked(pin.used, "citation href"),
        spec=spec.pk if spec else None,
        successor=successor.pk if successor else None,
        now=successor.shown if successor else None,
    )


_SENTENCES = {
    PinnedState.OK: "{name} {old} is unchanged.",
    PinnedState.MOVED: "{name} {old} is unchanged; its citation moved to other lines.",
    PinnedState.CHANGED: "The lines that {name} {old} cites changed; no curator has answered yet.",
    PinnedState.LOST: "The lines that {name} {old} cites are lost; no curator has answered yet.",
    PinnedState.SOURCE_MISSING: "The document that {name} {old} cites is missing.",
}


@dataclass(frozen=True, slots=True)
class CaseMove:
    """One case with the stored figures and those of the new values, in µs; None is UNKNOWN."""

    case: str
    floor_us: float | None
    floor_would_us: float | None
    target_us: float | None
    target_would_us: float | None


@dataclass(frozen=True, slots=True)
class TargetDrift:
    """A campaign's pins, and its target with what has taken their place."""

    pins: tuple[PinnedSpec, ...]
    moves: tuple[CaseMove, ...]

    @property
    def revised(self) -> tuple[PinnedSpec, ...]:
        """The pins that need attention."""
        return tuple(pin for pin in self.pins if not pin.holds)

    @property
    def target(self) -> str:
        return target_words([move.target_us for move in self.moves])

    @property
    def would_be(self) -> str:
        return target_words([move.target_would_us for move in self.moves])

    @property
    def moving(self) -> tuple[CaseMove, ...]:
        """The cases whose floor or target would be another one."""
        return tuple(
            move
            for move in self.moves
            if (move.floor_us, move.target_us) != (move.floor_would_us, move.target_would_us)
        )

    @property
    def words(self) -> str:
        """Where the target would go; empty where nothing has taken a pinned value's place."""
        if not any(pin.swapped for pin in self.revised):
            return ""
        if not self.moving:
            return f"The target would stay at {self.target}."
        proposed = not all(pin.decided for pin in self.revised)
        would = "would, once that is approved," if proposed else "would"
        return f"The target {would} move from {self.target} to {self.would_be}."

    def state_of(self, citation: str) -> str:
        """The citation's state for a page; ok for one that is no pin of this campaign."""
        found = (pin.cite_state for pin in self.pins if pin.used.citation == citation)
        return next(found, CitationState.OK.value)


def drift_of(campaign: Campaign) -> TargetDrift:
    """Compare each pin with the wiki now. Three queries; none before the target is set."""
    target, platform = target_of(campaign), campaign.platform_id
    used = [(role, found) for role in ROLES for found in target.cited(role)]
    if not used:
        return TargetDrift((), ())
    metrics = {found.metric for _, found in used}
    rows = Spec.objects.filter(platform=platform, metric__in=metrics).order_by("pk")
    specs = list(rows.for_sheet())
    open_flags = Flag.objects.open().filter(spec__in=specs, kind__in=DRIFT)
    flagged = dict(open_flags.values_list("spec_id", "kind"))
    pinned: dict[Key | None, Spec] = {}
    for spec in specs:
        pinned |= {key_of_citation(spec, citation): spec for citation in spec.cited}
    pins = []
    for role, used_then in used:
        source = pinned.get(key_of(platform, used_then))
        if source is None:
            pins.append(PinnedSpec(role, used_then, None, PinnedState.SOURCE_MISSING))
        else:
            pins.append(_pin(role, used_then, source, specs, flagged.get(source.pk)))
    moved = [pin for pin in pins if not pin.holds and pin.swapped]
    swaps = {pin.used: cited(pin.successor) if pin.successor else None for pin in moved}
    return TargetDrift(tuple(pins), case_moves(target, swaps))


def case_moves(target: CampaignTarget, swaps: Mapping[Cited, Cited | None]) -> tuple[CaseMove, ...]:
    """Each case of a stored target with these values exchanged, by the arithmetic of step 0."""
    bandwidths, computes = (
        tuple(found for one in ceilings if (found := swaps.get(one, one)) is not None)
        for ceilings in (target.bandwidths, target.computes)
    )
    ceilings = Ceilings(bandwidths=bandwidths, computes=computes, assumed={})
    works = {name: case.work for name, case in target.cases.items()}
    would = target_under(ceilings, works, target.fraction).cases
    return tuple(
        CaseMove(name, case.floor_us, would[name].floor_us, case.target_us, would[name].target_us)
        for name, case in target.cases.items()
    )


def target_words(times_us: Sequence[float | None]) -> str:
    """One time for a target of one case or more, or UNKNOWN."""
    known = [time for time in times_us if time is not None]
    if not known or len(known) < len(times_us):
        return UNKNOWN
    mean = duration(geomean(known))
    return mean if len(known) == 1 else f"{mean} (geometric mean of {len(known)} cases)"


def key_of(platform_id: int, used: Cited) -> Key | None:
    """What finds the citation that was pinned; None for a text that is no citation."""
    try:
        line = parse_citation(used.citation)
    except CitationError:
        return None
    revision = parse_qs(urlsplit(used.href).query).get("rev", [""])[0]
    place = (line.path, line.first_line, line.last_line, revision)
    return (platform_id, line.metric, line.shown, *place)


def key_of_citation(spec: Spec, citation: Citation) -> Key:
    """The same for a stored citation."""
    revision = citation.revision
    place = (revision.document.path, citation.first_line, citation.last_line, revision.short)
    return (spec.platform_id, spec.metric, spec.shown, *place)


def _pin(role: str, used: Cited, spec: Spec, specs: Sequence[Spec], flag: str | None) -> PinnedSpec:
    numbers = [other for other in specs if other.value is not None]
    # What a look-up of the spec's question finds now.
    answers = (
        other
        for other in numbers
        if other.state == SpecState.APPROVED
        and other.rank == Rank.PREFERRED
        and (other.metric, other.qualifiers) == (spec.metric, spec.qualifiers)
    )
    answer = next(answers, None)
    if answer is None:
        return PinnedSpec(role, used, spec, PinnedState.RETIRED)
    if answer.value != used.value:
        return PinnedSpec(role, used, spec, PinnedState.REPLACED, answer)
    if answer.pk != spec.pk:
        return PinnedSpec(role, used, spec, PinnedState.MOVED)
    if flag is not None:
        # The newest proposal in place of a flagged value.
        proposed = [
            other
            for other in numbers
            if other.replaces_id == spec.pk and other.state == SpecState.PROPOSED
        ]
        newest = proposed[-1] if proposed else None
        return PinnedSpec(role, used, spec, PinnedState(flag), newest, decided=False)
    cited_now = spec.citation
    key = key_of_citation(spec, cited_now) if cited_now else None
    # A new revision alone is no move: only another place is.
    moved = key is not None and key[:6] != (key_of(spec.platform_id, used) or ())[:6]
    return PinnedSpec(role, used, spec, PinnedState.MOVED if moved else PinnedState.OK)


# A campaign, its target, the role of a value in it, the value as pinned.
Found = tuple[Campaign, CampaignTarget, str, Cited]


def uses_in_campaigns(swaps: Sequence[Replacement]) -> list[list[SpecUse]]:
    """For each swap the campaigns whose target cites its value, newest first; two queries."""
    by_spec = {swap.spec.pk: swap.spec for swap in swaps}
    # Every place that each spec was ever cited from: a campaign holds the one of its time.
    keys: dict[int, set[Key]] = defaultdict(set)
    places = Citation.objects.filter(spec__in=by_spec).select_related("revision__document")
    for citation in places.defer("revision__text"):
        keys[citation.spec_id].add(key_of_citation(by_spec[citation.spec_id], citation))
    pinned: dict[Key, list[Found]] = defaultdict(list)
    platforms = {swap.spec.platform_id for swap in swaps}
    own = Campaign.objects.measured_here().filter(platform__in=platforms)
    rows = own.exclude(target={}).order_by("-pk")
    for campaign in rows.only("pk", "title", "platform_id", "target"):
        target = target_of(campaign)
        for role in ROLES:
            for found in target.cited(role):
                if (key := key_of(campaign.platform_id, found)) is not None:
                    pinned[key].append((campaign, target, role, found))
    return [
        [_use(found, swap) for key in sorted(keys[swap.spec.pk]) for found in pinned.get(key, ())]
        for swap in swaps
    ]


def _use(found: Found, swap: Replacement) -> SpecUse:
    """The target with the replacement, and why there is none."""
    (campaign, target, role, pinned), new = found, swap.replacement
    would_be = reason = ""
    if new is not None and (new.value is None or new.citation is None):
        reason = f"{new.shown} is no number with a citation"
    elif new is not None:
        moves = case_moves(target, {pinned: cited(new)})
        would_be = target_words([move.target_would_us for move in moves])
        if would_be == UNKNOWN:
            would_be, reason = "", "another ceiling of this target is unknown"
    purpose = f"{role} limit of the physical floor"
    if role == "busy_share":
        purpose = "slack of the physical floor"
    elif choose_ceiling(target.cited(role)) == pinned:
        purpose = f"{role} of the roof"
    return SpecUse(
        title=campaign.title,
        url=reverse("campaign", args=[campaign.pk]),
        purpose=purpose,
        target=target_words([case.target_us for case in target.cases.values()]),
        would_be=would_be,
        reason=reason,
    )
