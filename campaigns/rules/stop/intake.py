"""Options of a campaign beyond its goal, frozen with it (R1). Only the guard affects verdicts.

The fields are those that other systems ask for. Fixed behaviour of kopt (it works in its own
folder, and commits accepted rounds) is shown, but is not an option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from campaigns.rules.verdict.case_limits import GuardPolicy

LONGEST_TEXT = 4000
LONGEST_PLACE = 500
AUTO = "auto"
# Names that git, a shell and a file system all accept unquoted.
BRANCH = re.compile(
    r"(?!.*(\.\.|//|/\.|\.lock(/|$)|\.(/|$)))[A-Za-z0-9][A-Za-z0-9._/-]{0,98}[A-Za-z0-9_]"
)
EXECUTION_MODE = "workspace"
SKILL = "kopt"  # what our manifests call the skill that ran the campaign
LANGUAGES = {"cpp": "C++", "cuda": "CUDA C++", "triton": "Triton"}


class IntakeError(ValueError):
    """An invalid field; one line naming it and what is accepted."""


@dataclass(frozen=True, slots=True)
class Intake:
    """guard: how much a protected case may lose (R13). git_branch: of the accepted rounds; auto is
    optimize/<op>_<backend>_<gpu>_<date>.

    reference_project: a source of ideas, as a person wrote it; kopt never opens it.
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
        limits = {"constraints": LONGEST_TEXT, "notes": LONGEST_TEXT}
        for name, most in {"reference_project": LONGEST_PLACE, **limits}.items():
            text = getattr(self, name)
            if len(text) > most:
                raise IntakeError(f"{name}: {len(text)} characters; accepted: at most {most}")
            if "\0" in text:
                raise IntakeError(f"{name}: NUL; accepted: text without it")

    @property
    def guard_policy(self) -> GuardPolicy:
        """The guard as an enum."""
        return GuardPolicy(self.guard)

    @property
    def stored(self) -> dict[str, str]:
        """Data that `Campaign.intake` stores."""
        return asdict(self)

    @property
    def shown(self) -> dict[str, str]:
        """Label → value, for pages and commands; defaults are shown as such."""
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
    """Label → value that follows from the options, or is the same for every campaign."""
    return {
        "Architecture": f"{arch}, from the platform",
        "Language": f"{LANGUAGES.get(backend, backend)}, from the backend",
        "Execution mode": f"{EXECUTION_MODE}: its own folder, never the user's working tree",
        "Git commit": "each accepted round, always",
        "Wiki": "the wiki of this installation; every ceiling cites its lines",
    }
