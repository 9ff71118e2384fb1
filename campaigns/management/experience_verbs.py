"""The verbs of `experience`: their arguments, what they do beyond one call, and their lines.

`add` has the arguments of the second source system, and some of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

from campaigns.management.base_command import BY, Argument, argument
from campaigns.steps.lifecycle.reconcile import catch_up
from knowledge.curation.errors import CurationError
from knowledge.experience.attempts.merging import merge
from knowledge.experience.attempts.standing import refresh, resolve_names
from knowledge.experience.exchange.naming import KEEP, our_question
from knowledge.experience.readers.drafts import NAMED
from knowledge.experience.recommend.score import Question, Recommendation
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.experience.wording import gain_words
from knowledge.experience.writers.selection import OUTCOMES, Selection
from knowledge.experience.writers.statistics import Statistics
from knowledge.experience.writers.texts import csv_text, json_text, markdown_text
from knowledge.lookup.listing import PLATFORM_HELP, NotKnown
from knowledge.models import Batch, EntryStanding, Experience, Lesson, TrackRecord
from knowledge.search.index import rebuild
from knowledge.specs.facts import named_values

METRICS = {
    "memory-sol": "memory_sol",
    "sm-sol": "sm_sol",
    "latency": "latency_ms",
    "occupancy": "occupancy",
}
UNITS = {"latency": "in ms"}
WHY = argument("--why", default="", help="is kept in the history")
KERNEL = argument("--kernel", default="", help="operation, such as matmul or layernorm")
BACKEND = argument("--backend", default="", help="triton, cuda, hip, cpp, …")
CHIP = argument("--chip", default="", help="sm_90, gfx942, or a platform's name")
DTYPE = argument("--dtype", default="", help="such as float16")
BOTTLENECK = argument("--bottleneck", default="", help="memory, compute, latency, …")
PLATFORM = argument("--platform", default="", help=PLATFORM_HELP)

ADD: tuple[Argument, ...] = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, DTYPE, BOTTLENECK),
    argument("--dims", default="", help='"N=4096 D=4096" or "1024x1024x1024"'),
    argument("--iteration", "-i", default="", help="version there, such as v2"),
    argument("--stall", default="", help="the dominant stall"),
    *(
        argument(f"--{name}-{when}", type=float, help=f"{when} it, {UNITS.get(name, 'in %%')}")
        for when in ("before", "after")
        for name in METRICS
    ),
    argument("--optimization", "-o", default="", help="name, or name{param=value}"),
    argument("--hypothesis", default=""),
    argument("--outcome", required=True, help="success, neutral, failure, incorrect, …"),
    argument("--notes", default=""),
    argument("--gain", type=float, help="0.05 for 5 %% faster, where there are no latencies"),
    argument("--param", dest="params", action="append", metavar="NAME=VALUE"),
    argument("--keep", action="append", metavar="FIELD",
             help=f"store a name that nothing knows as it is: {', '.join(NAMED)}"),
    BY,
)  # fmt: skip
RECOMMEND = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, BOTTLENECK, DTYPE),
    argument("-n", dest="limit", type=int, default=5, help="at most so many; default: 5"),
)
SEARCH = (
    argument("query", nargs="*", help="words; a facet may be among them, as op:matmul"),
    *(
        argument(f"--{name}", default="")
        for name in ("op", "dtype", "backend", "platform", "arch", "symptom", "outcome", "kind")
    ),
    argument("-n", dest="limit", type=int, default=5, help="of each kind; default: 5"),
)
SELECTED = (
    *(KERNEL, BACKEND, PLATFORM, DTYPE, BOTTLENECK),
    argument("--strategy", default=""),
    argument("--outcome", default="", help=", ".join(OUTCOMES)),
)
LIST = (
    *SELECTED,
    argument("--standing", default="", help=", ".join(EntryStanding.values)),
    argument("--limit", type=int, default=50, help="the newest; default: 50"),
)
MERGE = (
    argument("--groups", nargs="+", metavar="UUIDS", help='"uuid,uuid" for each group'),
    argument("--into", metavar="UUID", help="who stands for a group; default: the best measured"),
    argument("--decide", default="", help="why they are one although their outcomes are opposite"),
    argument("--undo", metavar="UUID", help="take this one out of its merge"),
    *(WHY, BY),
)
SYNC = (argument("--out", type=Path, help="also write experience.md, .json and .csv there"),)
ANSWER = argument(
    "--answer", dest="answers", action="append", metavar="NAME=OURS",
    help="what an unknown name is called here; NAME== keeps it as it is",
)  # fmt: skip
KEEP_OTHERS = argument(
    "--keep", dest="keep_others", action="store_true", help="keep every other unknown name as it is"
)
LEAVE_OUT = argument(
    "--leave-out",
    action="store_true",
    help="leave out rows that cannot be read; they are named. A file that cannot be read to its "
    "end is refused all the same",
)
IMPORT = (
    argument("path", type=Path, help="a file, a folder or a .zip"),
    argument("--confirm", action="store_true", help="carry it out, if nothing is open"),
    *(ANSWER, KEEP_OTHERS, LEAVE_OUT, BY),
)
EXPORT = (
    argument("--format", dest="form", choices=("json", "csv", "md"), default="json"),
    argument("--out", type=Path, help="a file; default: stdout"),
    *SELECTED,
)
TIPS = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, DTYPE),
    argument("-n", dest="limit", type=int, default=5, help="at most so many; default: 5"),
)


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
        if not entries:
            raise CurationError("groups", 'none is given; accepted: "uuid,uuid"')
        # Whose gain is the largest of those that worked; else the first.
        worked = [e for e in entries if AttemptLabel(e.label).worked and e.gain is not None]
        best = max(worked, key=lambda entry: entry.gain or 0.0) if worked else entries[0]
        target = entry_at(options["into"]) if options["into"] else best
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


def _pair(name: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise CurationError(name, f"'{text[:60]}'; accepted: name=value, or name={KEEP}")
    return key.strip(), value.strip()


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
    for title, hits in (("", found.hits), ("showed no gain:", found.avoid)):
        lines += [title] if title and hits else []
        for hit in hits:
            gain = gain_words(hit.gain_median, hit.gain_low, hit.gain_high)
            told = f"{hit.worked} of {hit.tried} worked, median {gain}"
            lines.append(f"{hit.score:5.1f}  {hit.strategy}: {told}")
            reasons = ", ".join(f"{each.words} {each.points:+.1f}" for each in hit.reasons)
            lines.append(f"       {hit.scope}; {reasons}")
            lines += [f"       see {', '.join(hit.entries)}"] if hit.entries else []
    if found.excluded:
        told = ", ".join(f"{n} {why}" for why, n in found.excluded.items())
        lines.append(f"left out: {told}")
    return "\n".join(lines)


def recommendation_record(found: Recommendation) -> dict[str, Any]:
    return asdict(found) | {"excluded": dict(found.excluded)}


def statistics_text(found: Statistics) -> str:
    """The whole in a few blocks."""
    noun = "attempt" if found.tried == 1 else "attempts"
    lines = [f"{found.tried} {noun}: {found.worked} worked, {found.failed} showed no gain"]
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
    for asked in plan["questions"]:
        name = f"{asked['field']} '{asked['name']}'" if asked["name"] else f"no {asked['field']}"
        near = f"; perhaps {', '.join(asked['near'])}" if asked["near"] else ""
        answer = f"; answered: {asked['answer']}" if asked["answer"] else ""
        where = f"in {asked['rows']} rows, first {asked['first']}"
        lines.append(f"asked           {name} {where}{near}{answer}")
    for row in plan["rows"]:
        if row["outcome"] != "create":
            why = f": {row['why']}" if row["why"] else ""
            lines.append(f"{row['outcome']:15} {row['at']} {row['what'][:80]}{why}")
    if plan["more"]:
        lines.append(f"and {plan['more']} more rows")
    return "\n".join(lines)


def lesson_lines(lesson: Lesson) -> str:
    """A lesson in four lines with its scope."""
    head = "avoid: " if lesson.avoid else ""
    scope = named_values(lesson.scope) or "anywhere"
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
