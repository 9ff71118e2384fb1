"""What constraints say of stored values, and the reasoned exceptions to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
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
    known = _neighbours_of(specs)
    seen = _sources_of(spec.citation.revision_id for spec in specs if spec.citation)
    waived: dict[int, dict[str, str]] = defaultdict(dict)
    for waiver in Waiver.objects.filter(spec__in=specs):
        waived[waiver.spec_id][waiver.constraint] = waiver.reason
    found = {}
    for spec in specs:
        fact, citation = _fact(spec), spec.citation
        if citation is not None:
            lines = (citation.first_line, citation.last_line)
            fact = seen(fact, citation.revision_id, lines, citation.quote)
        found[spec.pk] = check_constraints(fact, known(spec), waived[spec.pk])
    return found


def warnings_before(spec: Spec, place: CitedLines | None = None) -> list[ConstraintWarning]:
    """What constraints say of a value that is not stored yet, and of the lines picked for it."""
    known, fact = _neighbours_of([spec])(spec), _fact(spec)
    if place is not None:
        key, lines = place.revision.pk, (place.first_line, place.last_line)
        fact = _sources_of([key])(fact, key, lines, place.quote())
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


def _sources_of(revisions: Iterable[int]) -> Callable[[Fact, int, tuple[int, int], str], Fact]:
    """A function that gives a fact its lines in one of these texts, and what they stand in."""
    texts = Revision.objects.select_related("document").in_bulk(set(revisions))
    names = PlatformNames.of(Platform.objects.values_list("slug", "name", "aliases"))
    about = {}  # the platform that a text says it speaks of, else that its document is named after
    for key, revision in texts.items():
        document, named = revision.document, platform_named_in(revision.text)
        about[key] = named or names.spoken_of(document.title, document.path) or ""

    def seen(fact: Fact, key: int, lines: tuple[int, int], quote: str) -> Fact:
        fact = replace(fact, quote=quote, about=about[key])
        if not bare_number(fact, Neighbours()):
            return fact  # the lines say enough, and reading what stands above takes longer
        place = sections.LineSpan(lines[0] - 1, lines[1])
        above = sections.Text(texts[key].text).context(place).values()
        return replace(fact, context="\n".join(line for part in above for line in part))

    return seen


def _neighbours_of(specs: Sequence[Spec]) -> Callable[[Spec], Neighbours]:
    """A function that finds the approved values beside a value, without it and what it replaces.

    These are those of its platform, and those of its metric of the same architecture.
    """
    approved = Spec.objects.approved().select_related("platform")
    near: dict[int, list[tuple[int, Fact]]] = defaultdict(list)
    for other in approved.filter(platform__in={spec.platform_id for spec in specs}):
        near[other.platform_id].append((other.pk, _fact(other)))
    far: dict[tuple[str, str], list[tuple[int, Fact]]] = defaultdict(list)
    archs, metrics = {s.platform.arch for s in specs}, {s.metric for s in specs}
    for other in approved.filter(platform__arch__in=archs, metric__in=metrics):
        far[other.platform.arch, other.metric].append((other.pk, _fact(other)))

    def known(spec: Spec) -> Neighbours:
        own = {spec.pk, spec.replaces_id}
        near_facts, far_facts = near[spec.platform_id], far[spec.platform.arch, spec.metric]
        return Neighbours(
            [fact for key, fact in near_facts if key not in own],
            [fact for key, fact in far_facts if key not in own],
        )

    return known


def _fact(spec: Spec) -> Fact:
    source = f"{spec.source} <{spec.source_url}>" if spec.source_url else spec.source
    own = (spec.metric, spec.shown, spec.qualifiers, spec.evidence)
    return Fact(spec.platform.slug, *own, source=source)
