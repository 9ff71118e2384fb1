"""What constraints say of stored values, and the reasoned exceptions to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knowledge.curation.errors import Conflict, CurationError, require_storable
from knowledge.curation.people import require_reviewer
from knowledge.curation.propose import CitedLines
from knowledge.curation.review import require_second_person
from knowledge.curation.revise import LIVE
from knowledge.curation.store import record
from knowledge.curation.turn import turn
from knowledge.lookup.platform_names import PlatformNames
from knowledge.models import Action, Batch, Platform, Revision, Spec, Waiver
from knowledge.specs.constraints import (
    CONSTRAINTS,
    ConstraintWarning,
    Fact,
    Neighbours,
    bare_number,
    check_constraints,
)
from knowledge.specs.reader import platform_named_in
from knowledge.specs.tracking import sections


def warnings_of(specs: Sequence[Spec]) -> dict[int, list[ConstraintWarning]]:
    """Spec key → its warnings, waived ones too with their reason.

    A value is seen beside the approved ones, without itself and what it replaces, and beside the
    text that it cites. Five queries for specs that come with platform and citations.
    """
    beside, siblings = _approved_values(specs), _siblings(specs)
    sources = _Sources.of(spec.citation.revision_id for spec in specs if spec.citation)
    waived: dict[int, dict[str, str]] = defaultdict(dict)
    for waiver in Waiver.objects.filter(spec__in=specs):
        waived[waiver.spec_id][waiver.constraint] = waiver.reason
    found = {}
    for spec in specs:
        fact, citation = _fact(spec), spec.citation
        if citation is not None:
            lines = (citation.first_line, citation.last_line)
            fact = sources.seen(fact, citation.revision_id, lines, citation.quote)
        known = _known(spec, beside, siblings)
        found[spec.pk] = check_constraints(fact, known, waived[spec.pk])
    return found


def warnings_before(spec: Spec, place: CitedLines | None = None) -> list[ConstraintWarning]:
    """What constraints say of a value that is not stored yet, and of the lines picked for it."""
    known, fact = _known(spec, _approved_values([spec]), _siblings([spec])), _fact(spec)
    if place is not None:
        lines = (place.first_line, place.last_line)
        sources = _Sources.of([place.revision.pk])
        fact = sources.seen(fact, place.revision.pk, lines, place.quote())
    return check_constraints(fact, known)


def contradictions(batch: Batch) -> list[str]:
    """What an import brought that contradicts an approved value, one line each."""
    brought = Spec.objects.filter(citations__revision__batch=batch, state__in=LIVE).distinct()
    specs = list(brought.for_sheet())
    return [
        f"{spec}: {warning.message}; look at {spec.get_absolute_url()}"
        for spec, found in zip(specs, warnings_of(specs).values(), strict=True)
        for warning in found
        if warning.constraint == "contradiction" and not warning.waived
    ]


def waive(spec: Spec, constraint: str, reason: str, by: Any) -> Waiver:
    """Store why one constraint's warning does not hold for this value.

    Raises Forbidden (no curator, or who proposed or restored it), CurationError for an unknown
    constraint, one that does not warn or no reason, and Conflict where somebody waived it already.
    """
    require_reviewer(by)
    require_second_person(spec, by)
    if not reason.strip():
        raise CurationError("reason", "a reason is needed; it is kept in the history")
    require_storable("reason", reason, 500)
    with turn(spec):
        warned = [warning.constraint for warning in warnings_of([spec])[spec.pk]]
        if constraint not in warned:
            accepted = ", ".join(warned) or "none, as nothing warns"
            raise CurationError("constraint", f"'{constraint}' does not warn; accepted: {accepted}")
        first = Waiver.objects.filter(spec=spec, constraint=constraint).first()
        if first is not None:
            raise Conflict(f"{first.who} was first: '{constraint}' is waived already")
        waiver = Waiver.objects.create(spec=spec, constraint=constraint, reason=reason, by=by)
        record(spec, Action.WAIVED, by, reason, after=CONSTRAINTS[constraint].title)
    return waiver


@dataclass(frozen=True, slots=True)
class _Sources:
    """The texts that some values rest on, by the key of their revision, and names of platforms."""

    texts: Mapping[int, Revision]
    about: Mapping[int, str]

    @classmethod
    def of(cls, revisions: Iterable[int]) -> _Sources:
        texts = Revision.objects.select_related("document").in_bulk(set(revisions))
        named = Platform.objects.values_list("slug", "name", "aliases")
        names = PlatformNames.of(named)
        return cls(texts, {key: _about(revision, names) for key, revision in texts.items()})

    def seen(self, fact: Fact, key: int, lines: tuple[int, int], quote: str) -> Fact:
        """The fact with its lines and what they stand in."""
        fact = replace(fact, quote=quote, about=self.about[key])
        if not bare_number(fact, Neighbours()):
            return fact  # the lines say enough, and reading what stands above takes longer
        place = sections.LineSpan(lines[0] - 1, lines[1])
        above = sections.Text(self.texts[key].text).context(place).values()
        return replace(fact, context="\n".join(line for part in above for line in part))


def _about(revision: Revision, names: PlatformNames) -> str:
    """The platform that a text says it speaks of, else the one that its document is named after."""
    document = revision.document
    named = platform_named_in(revision.text) or names.spoken_of(document.title, document.path)
    return named or ""


Keyed = list[tuple[int, Fact]]  # facts by the key of their spec


def _known(
    spec: Spec, beside: Mapping[int, Keyed], siblings: Mapping[tuple[str, str], Keyed]
) -> Neighbours:
    """What stands beside this value, without itself and what it replaces."""
    own = {spec.pk, spec.replaces_id}
    near = beside.get(spec.platform_id, [])
    far = siblings.get((spec.platform.arch, spec.metric), [])
    return Neighbours(
        [fact for key, fact in near if key not in own],
        [fact for key, fact in far if key not in own],
    )


def _approved_values(specs: Sequence[Spec]) -> dict[int, Keyed]:
    """Platform → approved values of it."""
    found: dict[int, Keyed] = defaultdict(list)
    platforms = {spec.platform_id for spec in specs}
    approved = Spec.objects.approved().filter(platform__in=platforms)
    for other in approved.select_related("platform"):
        found[other.platform_id].append((other.pk, _fact(other)))
    return found


def _siblings(specs: Sequence[Spec]) -> dict[tuple[str, str], Keyed]:
    """(architecture, metric) → approved values of the platforms of that architecture."""
    found: dict[tuple[str, str], Keyed] = defaultdict(list)
    approved = Spec.objects.approved().filter(
        platform__arch__in={spec.platform.arch for spec in specs},
        metric__in={spec.metric for spec in specs},
    )
    for other in approved.select_related("platform"):
        found[other.platform.arch, other.metric].append((other.pk, _fact(other)))
    return found


def _fact(spec: Spec) -> Fact:
    source = f"{spec.source} <{spec.source_url}>" if spec.source_url else spec.source
    own = (spec.metric, spec.shown, spec.qualifiers, spec.evidence)
    return Fact(spec.platform.slug, *own, source=source)
