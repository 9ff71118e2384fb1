"""Experience as lines of text: one thing a line, its number first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from knowledge.experience.recommend.score import Hit, Recommendation
from knowledge.experience.terms import Bottleneck
from knowledge.experience.wording import gain_words
from knowledge.experience.writers.statistics import Statistics
from knowledge.models import Batch, EntryStanding, Experience, Lesson


def entry_line(entry: Experience) -> str:
    """One attempt: its UUID, label and gain, what it was and where."""
    track = entry.track
    where = [track.op, track.dtype, track.backend, track.platform or track.arch]
    gain = gain_words(entry.gain, entry.gain_low, entry.gain_high)
    mark = "" if entry.standing == EntryStanding.COUNTS else f" ({entry.get_standing_display()})"
    strategy = track.strategy or "strategy unknown"
    return f"{entry.uuid} {entry.label:10} {strategy}: {gain}; {_words(where)}{mark}"


def recommendation_text(found: Recommendation) -> str:
    """What to try with its reasons, what not to try, and what the scope leaves out."""
    lines = [f"scope: {found.scope or 'anything'}"]
    if not found.hits:
        lines.append("nothing that worked in this scope")
    for hit in found.hits:
        lines += _hit(hit)
    if found.avoid:
        lines.append("did not work:")
        for hit in found.avoid:
            lines += _hit(hit)
    if found.excluded:
        told = ", ".join(f"{n} {why}" for why, n in found.excluded.items())
        lines.append(f"left out: {told}")
    return "\n".join(lines)


def recommendation_record(found: Recommendation) -> dict[str, Any]:
    return asdict(found) | {"excluded": dict(found.excluded)}


def _hit(hit: Hit) -> list[str]:
    gain = gain_words(hit.gain_median, hit.gain_low, hit.gain_high)
    first = f"{hit.score:5.1f}  {hit.strategy}: {hit.worked} of {hit.tried} worked, median {gain}"
    reasons = ", ".join(f"{each.words} {each.points:+.1f}" for each in hit.reasons)
    seen = f"       see {', '.join(hit.entries)}" if hit.entries else ""
    return list(filter(None, [first, f"       {hit.scope}; {reasons}", seen]))


def statistics_text(found: Statistics) -> str:
    """The whole in a few blocks."""
    noun = "attempt" if found.tried == 1 else "attempts"
    lines = [f"{found.tried} {noun}: {found.worked} worked, {found.failed} did not"]
    lines += _block("outcome", found.labels.items())
    lines += _block("backend", found.backends.items())
    lines += _block("bottleneck", ((Bottleneck(b).words, n) for b, n in found.bottlenecks.items()))
    for row in found.by_op:
        name = _words([row.op or "unknown", row.backend])
        best = f"; best known: {row.best}" if row.best else ""
        lines.append(f"{name}: {row.worked} of {row.tried} worked, median {row.gain.words}{best}")
    if found.strategies:
        lines.append("strategies that worked most often:")
        for each in found.strategies:
            held = f"; {each.confirmed} of {each.predicted} predictions held" * bool(each.predicted)
            lines.append(f"  {each.strategy}: {each.worked} of {each.tried} worked{held}")
    for proposer, told in found.predictions.items():
        held = ", ".join(f"{n} {borne}" for borne, n in sorted(told.items()))
        lines.append(f"predictions of {proposer}: {held}")
    hidden = {k: n for k, n in found.standings.items() if k != EntryStanding.COUNTS}
    lines += _block("not counted", hidden.items())
    return "\n".join(lines)


def plan_text(batch: Batch) -> str:
    """What an import would do: totals, questions, and each row that needs a look."""
    plan = batch.plan
    told = ", ".join(f"{n} {name}" for name, n in plan["counts"].items()) or "nothing"
    lines = [f"import {batch.number} of {batch.origin}: {told}"]
    for question in plan["questions"]:
        lines.append(_question(question))
    for row in plan["rows"]:
        if row["outcome"] != "create":
            why = f": {row['why']}" if row["why"] else ""
            lines.append(f"{row['outcome']:15} {row['at']} {row['what'][:80]}{why}")
    if plan["more"]:
        lines.append(f"and {plan['more']} more rows")
    return "\n".join(lines)


def _question(asked: dict[str, Any]) -> str:
    name = f"{asked['field']} '{asked['name']}'" if asked["name"] else f"no {asked['field']}"
    near = f"; perhaps {', '.join(asked['near'])}" if asked["near"] else ""
    answer = f"; answered: {asked['answer']}" if asked["answer"] else ""
    return f"asked           {name} in {asked['rows']} rows, first {asked['first']}{near}{answer}"


def lesson_lines(lesson: Lesson) -> str:
    """A lesson in four lines with its scope."""
    head = "avoid: " if lesson.avoid else ""
    scope = _words(f"{name}={value}" for name, value in lesson.scope.items()) or "anywhere"
    return (
        f"{lesson.uuid} {head}{lesson.takeaway}\n"
        f"  {scope}; {lesson.confirmed} confirm, {lesson.contradicted} contradict\n"
        f"  context: {lesson.context}\n  signal: {lesson.signal}\n  holds: {lesson.applicability}"
    )


def _block(title: str, counts: Iterable[tuple[str, int]]) -> list[str]:
    told = ", ".join(f"{name} {n}" for name, n in counts)
    return [f"{title}: {told}"] if told else []


def _words(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)
