"""Write down one attempt that somebody made elsewhere, as they tell it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from knowledge.curation.errors import CurationError
from knowledge.curation.people import require_proposer
from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.exchange.naming import KEEP, NameBook, resolve
from knowledge.experience.readers.drafts import NAMED, AttemptDraft, ReadFiles, judge
from knowledge.experience.readers.optimisation_log import OUR_METRIC, read_log_row
from knowledge.lookup.listing import slug_meant
from knowledge.models import Experience, ExperienceOrigin
from knowledge.specs.json_text import RecordError, parse_json

# Field of a told attempt → the field of the log that it stands for.
TEXTS = {
    "kernel": "kernel", "backend": "backend", "chip": "chip", "dtype": "dtype", "dims": "dims",
    "iteration": "iteration", "bottleneck": "bottleneck_before", "stall": "dominant_stall",
    "optimization": "optimization", "hypothesis": "hypothesis", "outcome": "outcome",
    "notes": "notes",
}  # fmt: skip
OTHERS = ("platform", "gain", "params", "before", "after", "keep")
# Field of the log, or of an attempt → the field of a told attempt that it stands for.
OWN = {theirs: own for own, theirs in TEXTS.items()} | {
    "op": "kernel",
    "strategy": "optimization",
    "metrics_before": "before",
    "metrics_after": "after",
}
LEAST_GAIN, MOST_GAIN = -1.0, 10_000.0
MOST_PARAMS = 50


def note_attempt(said: Mapping[str, Any], by: Any) -> Experience:
    """Store an attempt; its label follows from its gain (R12), and its notes keep another claim.

    said: fields of `TEXTS` and `OTHERS`; before and after hold memory_sol, sm_sol, latency_ms and
    occupancy; keep: fields whose name is kept although nothing knows it. by: the user, or None for
    a command. Raises Forbidden, and CurationError naming the field and what is accepted.
    """
    require_proposer(by)
    unknown = sorted(said.keys() - {*TEXTS, *OTHERS})
    if unknown:
        raise CurationError(unknown[0], f"accepted: {', '.join((*TEXTS, *OTHERS))}")
    draft = _draft(said)
    keep = said.get("keep") or ()
    bad = next((name for name in keep if name not in NAMED), None)
    if bad is not None:
        raise CurationError("keep", f"'{bad}'; accepted: {', '.join(NAMED)}")
    # A strategy may keep a foreign name; operation, platform and dtype must be known ones.
    names = (*keep, "strategy")
    answers = {f"{name}:{draft.names.get(name, '')}": KEEP for name in names} | {"op:": KEEP}
    book = NameBook(answers)
    resolved = resolve(ReadFiles(attempts=[draft]), book)
    for fault in resolved.faults:
        raise CurationError(OWN.get(fault.field, fault.field), fault.message)
    for question in book.questions.values():
        if not question.answer:
            near = f"perhaps {', '.join(question.near)}" if question.near else "nothing is near"
            accepted = f"keep {question.field} to store it as it is"
            message = f"'{question.name}' is not known; {near}; accepted: {accepted}"
            raise CurationError(OWN.get(question.field, question.field), message)
    ((_, new),) = resolved.attempts
    (made,) = record_attempts([replace(new, origin=ExperienceOrigin.PERSON)], by=by)
    return made


def _draft(said: Mapping[str, Any]) -> AttemptDraft:
    """The attempt as a row of the log would have it."""
    row: dict[str, Any] = {name: said.get(own) or "" for own, name in TEXTS.items()}
    if said.get("platform"):
        row["chip"] = slug_meant(said["platform"])
    for when in ("before", "after"):
        row[f"metrics_{when}"] = _metrics(when, said.get(when))
    try:
        draft = read_log_row("", parse_json(json.dumps(row)))
    except RecordError as error:
        raise CurationError(OWN.get(error.key, error.key) or "body", error.message) from None
    except (TypeError, ValueError) as error:
        raise CurationError("body", str(error)) from None
    params = {} if said.get("params") is None else said["params"]
    if not isinstance(params, Mapping) or len(params) > MOST_PARAMS:
        raise CurationError("params", f"accepted: an object of at most {MOST_PARAMS} values")
    if any(isinstance(value, (dict, list)) for value in params.values()):
        raise CurationError("params", "accepted: texts and numbers")
    values = dict(draft.values) | {"params": draft.values["params"] | params}
    gain = said.get("gain")
    if gain is not None:
        if not _is_number(gain) or not LEAST_GAIN < gain < MOST_GAIN:
            raise CurationError("gain", f"{gain!r:.40}; accepted: 0.05 for 5 % faster")
        if values["gain"] is not None:
            raise CurationError("gain", "accepted: either a gain or both latencies")
        label, note = judge(said["outcome"], gain)
        notes = "\n".join(filter(None, (values["notes"], note)))
        values |= {"gain": gain, "label": label, "notes": notes}
        values["baseline"] = "the version before it"
    return replace(draft, values=values)


def _metrics(when: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    theirs = {ours: name for name, ours in OUR_METRIC.items()}
    if not isinstance(given, Mapping) or not given.keys() <= theirs.keys():
        raise CurationError(when, f"accepted: an object of {', '.join(theirs)}")
    for value in given.values():
        if value is not None and not _is_number(value):
            raise CurationError(when, f"{value!r:.40}; accepted: finite numbers")
    return {name: given.get(ours) for name, ours in OUR_METRIC.items()}


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)
