"""Store the values of an import that do not come from a document's own spec lines.

A value from a file that others wrote is a proposal, whoever brings it. An export's specs.json is
believed as far as its documents are: at once where a command brings them into a wiki that has none
of them, else as proposals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q

from knowledge.bundle import Bundle
from knowledge.curation.history import record
from knowledge.curation.propose import Place, cite, fields_of
from knowledge.curation.revise import store_text
from knowledge.foreign import Fate, Told, Value
from knowledge.models import (
    Action,
    Batch,
    Platform,
    Revision,
    Spec,
    SpecState,
    Waiver,
)
from knowledge.specs.facts import Rank


@dataclass(slots=True)
class Taken:
    """What became of some values."""

    approved: int = 0
    proposed: int = 0
    told: list[Told] = field(default_factory=list)

    def __add__(self, other: Taken) -> Taken:
        counts = (self.approved + other.approved, self.proposed + other.proposed)
        return Taken(*counts, [*self.told, *other.told])


def take_earlier(
    bundle: Bundle, stored: set[str], origin: str, by: Any, batch: Batch | None
) -> None:
    """Store the earlier texts of documents that are new here, for what still rests on them."""
    for earlier in bundle.kept.earlier:
        if earlier.path not in stored:
            page = bundle.pages.get(earlier.path)
            title = page.title if page is not None else earlier.path
            store_text(earlier.path, title, earlier.text, origin=origin, by=by, batch=batch)


def take_values(values: Iterable[Value], stored: set[str], origin: str, by: Any) -> Taken:
    """Propose or approve each value that does not stand yet; say what became of every one.

    stored: paths of documents that were there before. by: the user, or None for a command.
    """
    taken = Taken()
    platforms = {platform.slug: platform for platform in Platform.objects.all()}
    for value in values:
        platform = platforms.get(value.platform)
        revision = _revision(value)
        if platform is None or revision is None:
            lacking = "platform" if platform is None else "text it rests on"
            taken.told.append(value.told(Fate.UNRESOLVED, f"the {lacking} is not stored here"))
            continue
        standing = _standing(value, platform, revision)
        if standing is not None:
            taken.told.append(value.told(Fate.STANDS, f"{standing.state}, {standing.rank}"))
            continue
        believed = by is None and value.ranked and value.citation.path not in stored
        at_once = believed and value.state == SpecState.APPROVED
        spec = _create(value, platform, by, at_once=at_once)
        cited = value.citation
        cite(spec, Place(revision, cited.first_line, cited.last_line), value.quote)
        action = Action.APPROVED if at_once else Action.PROPOSED
        record(spec, action, by, f"imported ({origin}, {value.file})", after=spec.shown)
        taken.approved += at_once
        taken.proposed += not at_once
        taken.told.append(value.told(Fate.RESOLVED, spec.state))
        taken.told += _waive(spec, value, believed=believed)
    return taken


def _revision(value: Value) -> Revision | None:
    """The text that a value rests on: the newest of its document, or the earlier one it names."""
    texts = Revision.objects.filter(document__path=value.citation.path)
    if value.revision:
        texts = texts.filter(sha256=value.revision)
    revision: Revision | None = texts.order_by("-number").first()
    cited = value.citation
    if revision is None or revision.quoted(cited.first_line, cited.last_line) != value.quote:
        return None
    return revision


def _standing(value: Value, platform: Platform, revision: Revision) -> Spec | None:
    """The spec that says the same on the same text already.

    A retired one counts as long as its document has not been stored again since: a text that comes
    back may propose its values again, as its own spec lines do.
    """
    facts = value.facts
    same = Spec.objects.filter(platform=platform, metric=facts.metric, shown=facts.shown)
    same = same.filter(
        qualifiers=dict(sorted(facts.qualifiers.items())),
        citations__quote=value.quote,
        citations__revision__document=revision.document_id,
    )
    return same.exclude(Q(state=SpecState.RETIRED) & ~Q(citations__revision=revision)).first()


def _create(value: Value, platform: Platform, by: Any, *, at_once: bool) -> Spec:
    return Spec.objects.create(
        **fields_of(value.facts),
        platform=platform,
        rank=value.facts.rank if value.ranked else _free_rank(value, platform),
        state=SpecState.APPROVED if at_once else SpecState.PROPOSED,
        proposed_by=by,
    )


def _free_rank(value: Value, platform: Platform) -> Rank:
    """Preferred where no other value of the question is, or is proposed to be."""
    facts = value.facts
    asked = Spec.objects.filter(platform=platform, metric=facts.metric, rank=Rank.PREFERRED)
    asked = asked.filter(
        qualifiers=dict(sorted(facts.qualifiers.items())),
        state__in=[SpecState.APPROVED, SpecState.PROPOSED],
    )
    return Rank.NORMAL if not facts.known or asked.exists() else Rank.PREFERRED


def _waive(spec: Spec, value: Value, *, believed: bool) -> Iterator[Told]:
    """Excepted warnings, in the name of whoever excepted them; never in that of a stranger."""
    for waiver in value.waivers:
        words = f"exception of '{waiver.constraint}' by {waiver.by}: {waiver.reason}"
        known = get_user_model().objects.filter(username=waiver.by).first() if believed else None
        if known is None:
            why = f"{words}; no such user here" if believed else f"{words}; except it again here"
            yield value.told(Fate.LEFT_OUT, why)
            continue
        Waiver.objects.create(
            spec=spec, constraint=waiver.constraint, reason=waiver.reason, by=known
        )
        record(spec, Action.WAIVED, known, waiver.reason, after=waiver.constraint)
