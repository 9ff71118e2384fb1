"""What a person says of a campaign beyond its goal, frozen with it (R1). Only the guard decides.

The fields are those that other systems ask for. What kopt does in one way only (it works in a
folder of its own, and commits accepted rounds) is no choice, and is shown as what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from campaigns.rules.verdict.guard import GuardPolicy

LONGEST_TEXT = 4000
LONGEST_PLACE = 500
AUTO = "auto"
# What git, a shell and a file system all read as one plain name.
BRANCH = re.compile(
    r"(?!.*(\.\.|//|/\.|\.lock(/|$)|\.(/|$)))[A-Za-z0-9][A-Za-z0-9._/-]{0,98}[A-Za-z0-9_]"
)
EXECUTION_MODE = "workspace"
LANGUAGES = {"cpp": "C++", "cuda": "CUDA C++", "triton": "Triton"}


class IntakeError(ValueError):
    """A field that can not be taken; one line naming it and what is accepted."""


@dataclass(frozen=True, slots=True)
class Intake:
    """guard: how much a protected case may lose (R13). git_branch: of the accepted rounds; auto is
    optimize/<op>_<backend>_<gpu>_<date>.

    reference_project: where ideas may come from, as people write it; kopt opens nothing there.
    """

    guard: str = GuardPolicy.DEFAULT.value
    git_branch: str = AUTO
    reference_project: str = ""
    constraints: str = ""
    notes: str = ""

    def __post_init__(self) -> None:
        if self.guard not in tuple(GuardPolicy):
            raise IntakeError(f"guard: {self.guard!r}; accepted: {', '.join(GuardPolicy)}")
        if not BRANCH.fullmatch(self.git_branch):
            raise IntakeError(
                f"git_branch: {self.git_branch!r}; accepted: auto, or letters, digits, . _ - and / "
                "between, up to 100 characters"
            )
        limits = {"reference_project": LONGEST_PLACE}
        for name in ("reference_project", "constraints", "notes"):
            text, most = getattr(self, name), limits.get(name, LONGEST_TEXT)
            if len(text) > most:
                raise IntakeError(f"{name}: {len(text)} characters; accepted: at most {most}")
            if "\0" in text:
                raise IntakeError(f"{name}: NUL; accepted: text without it")

    @property
    def guard_policy(self) -> GuardPolicy:
        """The guard as the rules take it."""
        return GuardPolicy(self.guard)

    @property
    def stored(self) -> dict[str, str]:
        """As `Campaign.intake` keeps it."""
        return asdict(self)

    @property
    def shown(self) -> dict[str, str]:
        """Label → what was said, for pages and commands; defaults are shown as such."""
        branch = "named after the campaign" if self.git_branch == AUTO else self.git_branch
        return {
            "Guard": self.guard_policy.words,
            "Git branch": branch,
            "Reference project": self.reference_project or "none",
            "Constraints": self.constraints or "none",
            "Notes": self.notes or "none",
        }


def intake_from(stored: Mapping[str, Any] | None) -> Intake:
    """Read `Campaign.intake`: defaults for what a row lacks; fields of old versions are skipped."""
    known = {one.name for one in fields(Intake)}
    return Intake(**{name: value for name, value in (stored or {}).items() if name in known})


def fixed(backend: str, arch: str) -> dict[str, str]:
    """Label → what follows from the choices, or is the same for every campaign."""
    return {
        "Architecture": f"{arch}, from the platform",
        "Language": f"{LANGUAGES.get(backend, backend)}, from the backend",
        "Execution mode": f"{EXECUTION_MODE}: a folder of its own, never a user's tree",
        "Git commit": "each accepted round, always",
        "Wiki": "this installation's, whose lines every ceiling cites",
    }
