"""Bring a value of an export back as it was there: state, rank, history, flags and exceptions.

What was done there is told in the words of its history, never as if it had been done here today.
A name in a file is no user of this installation: what is brought back neither gives a person here
a right nor takes one, and stands as done by nobody here.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from knowledge.curation.store import fields_of, record
from knowledge.exchange.exported_specs import ExportedChange, ExportedFlag, ExportedSpec
from knowledge.models import (
    Action,
    Citation,
    Flag,
    Platform,
    Revision,
    Spec,
    SpecChange,
    SpecState,
    Waiver,
)
from knowledge.models.guarded import COMMAND
from knowledge.search.index import index_specs
from knowledge.specs.facts import SpecFacts

LONGEST_REASON = 500  # characters; the column of a waiver's reason
# What says by itself that a value is in this state, where its history does not.
ENTERED = {
    "proposed": Action.PROPOSED,
    "approved": Action.APPROVED,
    "returned": Action.RETURNED,
    "retired": Action.RETIRED,
}


def bring_back(
    kept: ExportedSpec[SpecFacts], platform: Platform, revision: Revision, origin: str
) -> Spec:
    """Store the value on these lines of `revision`, all but what it replaces. Run it in a turn."""
    spec = Spec.objects.create(
        **fields_of(kept.facts),
        platform=platform,
        rank=kept.facts.rank,
        state=kept.state,
        elsewhere={"by": kept.by, "at": kept.at},
    )
    cited = kept.citation
    Citation.objects.create(
        spec=spec,
        revision=revision,
        first_line=cited.first_line,
        last_line=cited.last_line,
        quote=kept.quote,
    )
    SpecChange.objects.bulk_create(_entry(spec, step) for step in kept.history)
    last = kept.history[-1] if kept.history else None
    if last is None or (last.state, last.rank) != (kept.state, kept.facts.rank):
        why = f"imported ({origin}, {kept.file})"
        record(spec, ENTERED[kept.state], None, why, after=spec.shown)
    Flag.objects.bulk_create(_flag(spec, flag) for flag in kept.flags)
    if kept.state != SpecState.RETIRED:
        index_specs([spec])
    return spec


def waive_again(spec: Spec, kept: ExportedSpec[SpecFacts]) -> None:
    """Except the warnings here that were excepted there, each once."""
    for waiver in {each.constraint: each for each in kept.waivers}.values():
        known = {"by": waiver.by, "at": waiver.at}
        Waiver.objects.create(
            spec=spec,
            constraint=waiver.constraint,
            reason=said(waiver.by, waiver.at, waiver.reason)[:LONGEST_REASON],
            elsewhere=known | ({"reason": waiver.reason} if waiver.reason else {}),
        )


def said(by: str, at: str, why: str) -> str:
    """What somebody did elsewhere, as the history here tells it; at: ISO 8601."""
    when = f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M UTC}"
    return f"imported: {by or COMMAND} on {when}" + (f": {why}" if why else "")


def _entry(spec: Spec, step: ExportedChange) -> SpecChange:
    return SpecChange(
        spec=spec,
        action=step.action,
        state=step.state,
        rank=step.rank,
        before=step.before,
        after=step.after,
        why=said(step.by, step.at, step.why),
        elsewhere={"by": step.by, "at": step.at, "why": step.why},
    )


def _flag(spec: Spec, flag: ExportedFlag) -> Flag:
    known = {"by": flag.by, "at": flag.at}
    noticed = Revision.objects.filter(document__path=flag.path, sha256=flag.revision)
    first, last = flag.lines or (None, None)
    made = Flag(
        spec=spec,
        kind=flag.kind,
        revision=noticed.order_by("-number").first() if flag.path else None,
        first_line=first,
        last_line=last,
        quote=flag.quote,
        note=flag.note,
    )
    if flag.answer:
        known |= {"answered_by": flag.answered_by, "answered_at": flag.answered_at}
        known["why"] = flag.why
        made.answer = flag.answer
        made.answered_at = timezone.now()
        made.why = said(flag.answered_by, flag.answered_at, flag.why)
    made.elsewhere = known
    return made
