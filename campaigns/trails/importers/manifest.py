"""A manifest.yaml, ours or kernel-optimize's, as defaults of a new campaign: each with its line.

Only what fits exactly is taken. What does not is listed with the reason, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.rules.stop.intake import AUTO, EXECUTION_MODE, LANGUAGES, SKILL
from campaigns.rules.stop.policy import ROUND_LIMIT, ROUNDS_ACCEPTED
from campaigns.rules.target.goal import GoalError, parse_goal
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.trails.importers.claims import TrailRefused, refused
from campaigns.trails.importers.documents import LinedDocument, read_yaml
from knowledge.lookup.platform_names import fitting

# The fields that are read, in this order, with the option that each is for, if any.
FIELDS = {
    "target_op": "problem",
    "target_backend": "backend",
    "target_gpu": "platform",
    "target_shapes": "case",
    "performance_target": "target",
    "primary_metric": "",
    "execution_mode": "",
    "git_commit": "",
    "git_branch": "git_branch",
    "max_iterations": "rounds",
    **{name: name for name in ("guard", "reference_project", "constraints", "notes")},
}
# What ours says of the exported files and their campaign; nothing of it is a choice for the next.
DESCRIBES = frozenset(
    (
        *("target_lang", "project_skill", "primary_metric", "kernel_source", "test_command"),
        *("benchmark_command", "quick_command", "representative_shapes", "git_commit", "created"),
    )
)
LARGEST = 1_000_000
NEVER = {"primary_metric": "kopt always ranks by the time of paired runs"}


@dataclass(frozen=True, slots=True)
class ManifestDefault:
    """A value for an option of `campaign new`, and where it was said."""

    option: str
    value: Any
    place: str


@dataclass(frozen=True, slots=True)
class ManifestDefaults:
    """defaults: by option. left: what was not taken, each with its place and why."""

    defaults: Mapping[str, ManifestDefault]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ManifestChoices:
    """What there is to choose: problem → (operator, its cases); platform → the names it has."""

    problems: Mapping[str, tuple[str, tuple[str, ...]]]
    platforms: Mapping[str, tuple[str, ...]]


def read_manifest(path: str, text: str, known: ManifestChoices) -> ManifestDefaults:
    """Read a manifest, the known fields first; one that is null or empty says nothing.

    Raises TrailRefused for what no campaign may have.
    """
    if len(text) > LARGEST:
        raise TrailRefused(f"{path}: larger than {LARGEST} characters; accepted: a manifest")
    sheet = read_yaml(path, text)
    defaults: dict[str, ManifestDefault] = {}
    left: list[str] = []
    ours = DESCRIBES if sheet.get("project_skill") == SKILL else frozenset()
    given = [n for n, value in sheet.value.items() if value not in (None, "") and n not in ours]
    order = [*(name for name in FIELDS if name in given), *(n for n in given if n not in FIELDS)]
    for field in order:
        place = f"{path}:L{sheet.line(field)}"
        option = FIELDS.get(field, "")
        value: Any
        if option in ("problem", "backend", "platform"):
            value, why = _only(sheet.text(field).lower(), option, known)
        elif option == "case":
            value, why = _cases(sheet.get(field), defaults.get("problem"), known)
        else:
            value, why = _stated(sheet, field)
        if why:
            left.append(f"{place}: {field}: {str(sheet.get(field))[:60]}: {why}")
        elif value is not None:
            defaults[option] = ManifestDefault(option, value, place)
    return ManifestDefaults(defaults, tuple(left))


def _only(asked: str, option: str, known: ManifestChoices) -> tuple[str | None, str]:
    """What alone fits exactly, a platform by any part of its name too; or why nothing is taken."""
    tables: dict[str, dict[str, tuple[str, ...]]] = {
        "problem": {
            name: (name, name.partition("@")[0], op) for name, (op, _) in known.problems.items()
        },
        "backend": {backend: (backend,) for backend in LANGUAGES},
        "platform": {
            slug: (slug, *(name.lower() for name in names))
            for slug, names in known.platforms.items()
        },
    }
    choices = tables[option]
    fits = [slug for slug, names in choices.items() if asked in names]
    if option == "platform":
        fits = fitting(asked, choices)
    if asked in choices:
        # One of that very name goes before others of the same operator.
        fits = [asked]
    if len(fits) == 1:
        return fits[0], ""
    which = ", ".join(fits or choices) or "none yet"
    return None, f"{'several fit' if fits else 'none fits exactly'}; there is {which}"


def _cases(
    shapes: Any, problem: ManifestDefault | None, known: ManifestChoices
) -> tuple[list[str] | None, str]:
    if shapes == "all":
        return None, ""
    if problem is None:
        return None, "no problem to look them up in"
    there = known.problems[problem.value][1]
    listed = isinstance(shapes, list)
    names = [s.get("label") if isinstance(s, dict) else s for s in shapes] if listed else shapes
    if isinstance(names, (list, dict)) and names and all(name in there for name in names):
        return [str(name) for name in names], ""
    return None, f"not all are cases of {problem.value}: {', '.join(there)}"


def _stated(sheet: LinedDocument, field: str) -> tuple[Any, str]:
    """The value of any other field, None where it changes nothing, and why it is not taken."""
    match field:
        case "performance_target":
            try:
                parse_goal(sheet.text(field))
            except GoalError as error:
                return None, str(error)
            return sheet.text(field), ""
        case "execution_mode":
            is_ours = sheet.word(field, ("repo", "workspace")) == EXECUTION_MODE
            return None, "" if is_ours else "kopt always works in a folder of its own"
        case "git_commit":
            why = "kopt always commits accepted rounds, in a repository of its own"
            return None, why if sheet.get(field) is False else ""
        case "git_branch":
            said = sheet.text(field)
            why = "accepted rounds are always on a branch" if said == "none" else ""
            return None if said == AUTO else said, why
        case "max_iterations":
            most = sheet.number(field)
            if not isinstance(most, int) or not 1 <= most < ROUND_LIMIT:
                line = sheet.line(field)
                raise refused(sheet.path, line, f"{field}: {most}", ROUNDS_ACCEPTED)
            return most, ""
        case "guard":
            return sheet.word(field, tuple(GuardPolicy)), ""
    why = NEVER.get(field, "" if field in FIELDS else "kopt has no such choice")
    return None if why else sheet.text(field), why
