"""A manifest.yaml, ours or kernel-optimize's, as defaults of a new campaign: each with its line.

Only what fits exactly is taken. What does not is listed with the reason, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.rules.stop.intake import AUTO, EXECUTION_MODE, LANGUAGES
from campaigns.rules.stop.policy import ROUND_LIMIT, ROUNDS_ACCEPTED
from campaigns.rules.target.goal import GoalError, parse_goal
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.trails.importers.claims import TrailRefused, refused
from campaigns.trails.importers.documents import LinedDocument, read_yaml

TEXTS = ("reference_project", "constraints", "notes")
LARGEST = 1_000_000


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
    """Read a manifest. Raises TrailRefused for what no campaign may have."""
    if len(text) > LARGEST:
        raise TrailRefused(f"{path}: larger than {LARGEST} characters; accepted: a manifest")
    return _ManifestReader(read_yaml(path, text), known).all()


class _ManifestReader:
    """Goes through the fields one by one; a field that is not there or null says nothing."""

    def __init__(self, sheet: LinedDocument, known: ManifestChoices) -> None:
        self.sheet, self.known = sheet, known
        self.defaults: dict[str, ManifestDefault] = {}
        self.left: list[str] = []

    def all(self) -> ManifestDefaults:
        """Every field, the known ones first."""
        fields: Mapping[str, Callable[[str], None]] = {
            "target_op": self.problem,
            "target_backend": self.backend,
            "target_gpu": self.platform,
            "target_shapes": self.cases,
            "performance_target": self.target,
            "primary_metric": self.metric,
            "execution_mode": self.mode,
            "git_commit": self.commit,
            "git_branch": self.branch,
            "max_iterations": self.rounds,
            "guard": self.guard,
            **dict.fromkeys(TEXTS, self.text),
        }
        given = [name for name, value in self.sheet.value.items() if value not in (None, "")]
        for name, take in fields.items():
            if name in given:
                take(name)
        for name in given:
            if name not in fields:
                self.leave(name, "kopt has no such choice")
        return ManifestDefaults(self.defaults, tuple(self.left))

    def take(self, field: str, option: str, value: Any) -> None:
        """Let it be a default."""
        place = f"{self.sheet.path}:L{self.sheet.line(field)}"
        self.defaults[option] = ManifestDefault(option, value, place)

    def leave(self, field: str, why: str) -> None:
        """Say that it is not taken."""
        value = str(self.sheet.get(field))[:60]
        self.left.append(f"{self.sheet.path}:L{self.sheet.line(field)}: {field}: {value}: {why}")

    def problem(self, field: str) -> None:
        asked = self.sheet.text(field).lower()
        fits = [slug for slug, (op, _) in self.known.problems.items() if asked in (slug, op)]
        self._only(field, "problem", fits, self.known.problems)

    def backend(self, field: str) -> None:
        asked = self.sheet.text(field).lower()
        self._only(field, "backend", [b for b in LANGUAGES if b == asked], LANGUAGES)

    def platform(self, field: str) -> None:
        asked = self.sheet.text(field).lower()
        fits = [
            slug
            for slug, names in self.known.platforms.items()
            if asked in (slug, *(name.lower() for name in names))
        ]
        self._only(field, "platform", fits, self.known.platforms)

    def _only(self, field: str, option: str, fits: list[str], known: Iterable[str]) -> None:
        if len(fits) == 1:
            self.take(field, option, fits[0])
        else:
            which = ", ".join(fits or known) or "none yet"
            self.leave(field, f"{'several fit' if fits else 'none fits exactly'}; there is {which}")

    def cases(self, field: str) -> None:
        shapes = self.sheet.get(field)
        found = self.defaults.get("problem")
        if shapes == "all" or found is None:
            return None if shapes == "all" else self.leave(field, "no problem to look them up in")
        there = self.known.problems[found.value][1]
        listed = isinstance(shapes, list)
        names = [s.get("label") if isinstance(s, dict) else s for s in shapes] if listed else shapes
        if isinstance(names, (list, dict)) and names and all(name in there for name in names):
            return self.take(field, "case", [str(name) for name in names])
        return self.leave(field, f"not all are cases of {found.value}: {', '.join(there)}")

    def target(self, field: str) -> None:
        try:
            parse_goal(self.sheet.text(field))
        except GoalError as error:
            return self.leave(field, str(error))
        return self.take(field, "target", self.sheet.text(field))

    def metric(self, field: str) -> None:
        # Ours says in which unit the trend is written, theirs what ranks.
        self.leave(field, "kopt always ranks by the time of paired runs")

    def mode(self, field: str) -> None:
        if self.sheet.word(field, ("repo", "workspace")) != EXECUTION_MODE:
            self.leave(field, "kopt always works in a folder of its own")

    def commit(self, field: str) -> None:
        # Ours has the hash of the best round there, theirs a yes or no.
        if self.sheet.get(field) is False:
            self.leave(field, "kopt always commits accepted rounds, in a repository of its own")

    def branch(self, field: str) -> None:
        said = self.sheet.text(field)
        if said == "none":
            self.leave(field, "accepted rounds are always on a branch")
        elif said != AUTO:
            self.take(field, "git_branch", said)

    def guard(self, field: str) -> None:
        self.take(field, field, self.sheet.word(field, tuple(GuardPolicy)))

    def rounds(self, field: str) -> None:
        most = self.sheet.number(field)
        if not isinstance(most, int) or not 1 <= most < ROUND_LIMIT:
            line = self.sheet.line(field)
            raise refused(self.sheet.path, line, f"{field}: {most}", ROUNDS_ACCEPTED)
        self.take(field, "rounds", most)

    def text(self, field: str) -> None:
        self.take(field, field, self.sheet.text(field))
