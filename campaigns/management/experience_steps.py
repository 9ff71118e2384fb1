"""What single verbs of `experience` do beyond one call: told options as the values of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from campaigns.management.experience_options import METRICS
from campaigns.steps.lifecycle.reconcile import catch_up
from knowledge.curation.errors import CurationError
from knowledge.experience.attempts.merging import merge
from knowledge.experience.attempts.standing import refresh, resolve_names
from knowledge.experience.exchange.naming import KEEP, our_question
from knowledge.experience.recommend.score import Question
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.writers.selection import Selection
from knowledge.experience.writers.texts import csv_text, json_text, markdown_text
from knowledge.lookup.listing import NotKnown
from knowledge.models import Experience, TrackRecord
from knowledge.search.index import rebuild

WRITERS = {
    "json": json_text,
    "csv": lambda selection: csv_text(selection.entries().order_by("pk")),
    "md": markdown_text,
}


def told_attempt(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `add` as `note_attempt` takes them."""
    said = {name: value for name, value in options.items() if value not in (None, "", [])}
    for when in ("before", "after"):
        given = {
            ours: said.pop(f"{name.replace('-', '_')}_{when}", None)
            for name, ours in METRICS.items()
        }
        said[when] = {name: value for name, value in given.items() if value is not None}
    said["params"] = dict(_pair("param", each) for each in said.get("params", ()))
    return said


def asked(options: Mapping[str, Any]) -> Question:
    """The options of `recommend` and `tips` as a question in our names."""
    said = {name: options[name] for name in ("backend", "dtype")}
    said |= {"op": options["kernel"], "platform": options["platform"] or options["chip"]}
    return our_question(said | {"bottleneck": options.get("bottleneck", "")})


def answers_of(asked: Sequence[Mapping[str, Any]], told: Sequence[str]) -> dict[str, str]:
    """`name=ours` as answers to the questions of a plan. CurationError for what is not asked."""
    keys = {question["name"]: question["key"] for question in asked if question["name"]}
    keys |= {question["key"]: question["key"] for question in asked}
    found = {}
    for each in told:
        key, answer = _pair("answer", each)
        if key not in keys and not key.startswith("strategy@"):
            raise CurationError(
                "answer", f"'{key}' is not asked; asked: {', '.join(keys) or 'none'}"
            )
        found[keys.get(key, key)] = answer
    return found


def merge_groups(groups: Sequence[str], options: Mapping[str, Any], by: Any) -> list[Experience]:
    """Merge each "uuid,uuid" into the one that stands for it; the merged entries."""
    if options["into"] and len(groups) > 1:
        raise CurationError("into", "accepted with one group alone")
    seen: set[str] = set()
    merged: list[Experience] = []
    for group in groups:
        names = [name.strip() for name in group.split(",") if name.strip()]
        twice = next((name for name in names if names.count(name) > 1 or name in seen), None)
        if twice is not None:
            raise CurationError("groups", f"{twice} is given twice; accepted: each entry once")
        seen.update(names)
        entries = [entry_at(name) for name in names]
        target = entry_at(options["into"]) if options["into"] else _best(entries)
        # Naming the target alone says nothing else that it stands for: then it is refused.
        others = [e for e in entries if e.pk != target.pk] or entries
        merged += merge(others, target, by, options["why"], options["decide"])
    return merged


def entry_at(name: str) -> Experience:
    """The entry of a UUID. NotKnown where there is none."""
    try:
        return Experience.objects.select_related("track").get(uuid=UUID(name))
    except (ValueError, Experience.DoesNotExist):
        raise NotKnown(f"'{name[:60]}': no such entry; `experience list` shows them") from None


def sync(out: Path | None) -> dict[str, Any]:
    """Names, records, rounds and the index anew, and the three files where they are wanted."""
    moved = resolve_names()
    refresh(TrackRecord.objects.values_list("pk", flat=True))
    learned = catch_up(None)
    done: dict[str, Any] = {"moved": moved, "learned": learned, "indexed": rebuild()}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for ending, write in WRITERS.items():
            (out / f"experience.{ending}").write_text(write(Selection()), encoding="utf-8")
        done["written"] = [str(out / f"experience.{ending}") for ending in WRITERS]
    return done


def _best(entries: Sequence[Experience]) -> Experience:
    """Whose gain is the largest of those that worked; else the first."""
    if not entries:
        raise CurationError("groups", 'none is given; accepted: "uuid,uuid"')
    worked = [e for e in entries if AttemptLabel(e.label).worked and e.gain is not None]
    return max(worked, key=lambda entry: entry.gain or 0.0) if worked else entries[0]


def _pair(name: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise CurationError(name, f"'{text[:60]}'; accepted: name=value, or name={KEEP}")
    return key.strip(), value.strip()
