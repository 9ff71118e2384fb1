"""Read a trick: a candidate file that says in a leading comment what it does and how it must end.

    // trick: keeps answers by the address of the input
    // problem: scale N=512
    // outcome: wrong_result
    // says: elements changed

trick: one line for people. problem: a folder of `problems/` beside the candidates or a shipped one,
with its parameters. outcome: what the evaluation must end with, several with "|" between them.
Three words are no Outcome: `no_gain` lets it pass as long as it does not seem faster than
`against`, a file of the problem, or is refused for inputs that it has seen; `needs_review` lets it
pass if what its source keeps asks for a person; `passed` is for the honest ones.
says: a part of the reason, several with "|" between them where the draw of the inputs decides
which. flags: compiler flags. timed: "no" stops after the check. calls: the most slots of a burst.
burst_ms: as in the protocol. aims: "kopt" where it is dishonest to this evaluator alone and does
its work in any other. on: "cpu" where it is no trick on a GPU.

A folder of tricks holds `cheats/` and `honest/`, each with a folder per backend, and `problems/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from campaigns.benchmarks.harness import BenchmarkError
from campaigns.devices.discover import Device
from campaigns.evaluator.contract import Case, Job, Limits, Param, Protocol, Source
from campaigns.problems.shipped import SHIPPED

# The candidates that come with kopt.
TRICKS = Path(__file__).resolve().parent / "tricks"
KINDS = ("cheats", "honest")
# What runs where: triton candidates are judged on a CPU, too, in Triton's interpreter.
TRICK_BACKENDS = {"cpu": ("cpp", "triton"), "gpu": ("triton", "cuda")}
BACKENDS = {".cpp": "cpp", ".py": "triton", ".cu": "cuda"}
KEYS = {
    *("trick", "problem", "outcome", "says", "flags", "timed", "against", "calls", "burst_ms"),
    *("aims", "on"),
}
LINE = re.compile(r"(?://|#) (\w+): (.+)")
# A candidate that hangs costs this much and no more.
# No host is too busy for them: what a trick comes to is asked, and not how fast it is.
LIMITS = Limits(build_s=60, load_s=6, call_s=4, prepare_s=20, total_s=90, lost_s=90)


@dataclass(frozen=True, slots=True)
class Trick:
    """One candidate file. root: the folder that holds `problems/`. words: its header, by key."""

    path: Path
    root: Path
    words: dict[str, str]

    @property
    def backend(self) -> str:
        return BACKENDS[self.path.suffix]

    @property
    def name(self) -> str:
        return f"{self.backend}/{self.path.stem}"

    @property
    def honest(self) -> bool:
        return self.outcomes == ("passed",)

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(map(str.strip, self.words["outcome"].split("|")))

    @property
    def says(self) -> tuple[str, ...]:
        """Parts of the reason, one of which must be in it; the empty one is in every reason."""
        return tuple(map(str.strip, self.words.get("says", "").split("|")))

    @property
    def problem(self) -> Path:
        name = self.words["problem"].split()[0]
        own = self.root / "problems" / name
        return own if own.is_dir() else SHIPPED / name

    @property
    def params(self) -> dict[str, Param]:
        pairs = (item.split("=") for item in self.words["problem"].split()[1:])
        return {name: float(value) if "." in value else int(value) for name, value in pairs}

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(self.words.get("flags", "").split())

    @property
    def against(self) -> Path | None:
        name = self.words.get("against")
        return self.problem / name if name else None

    @property
    def source(self) -> Source:
        return Source(self.path.name, self.path.read_text(), self.flags)

    def runs_on(self, kind: str) -> bool:
        """Whether it is what it says on a "cpu" or a "gpu"."""
        return self.words.get("on", kind) == kind


class TrickError(BenchmarkError):
    """A candidate file whose header cannot be used, or a folder without any."""


def read(path: Path, root: Path) -> Trick:
    """Raises TrickError naming the file and what its header lacks."""
    lines = takewhile(bool, map(LINE.fullmatch, path.read_text().splitlines()))
    words = {found[1]: found[2].strip() for found in lines if found}
    for name in ("trick", "problem", "outcome"):
        if name not in words:
            raise TrickError(f"{path.name}: {name}: missing from the comment at the top")
    if unknown := set(words) - KEYS:
        raise TrickError(f"{path.name}: {unknown}: unknown; accepted: {', '.join(sorted(KEYS))}")
    return Trick(path, root, words)


def every(root: Path, kind: str, backend: str) -> Iterator[Trick]:
    """All tricks below the folder `kind` ("cheats" or "honest") for one backend."""
    folder = root / kind / backend
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in BACKENDS:
            yield read(path, root)


def chosen(
    device: Device, folder: Path, backends: Sequence[str] | None, part: str = ""
) -> list[Trick]:
    """Tricks on the device below `folder`. part: a part that their names must have."""
    names = [name for name in TRICK_BACKENDS[device.kind] if not backends or name in backends]
    found = [trick for name in names for kind in KINDS for trick in every(folder, kind, name)]
    found = [trick for trick in found if trick.runs_on(device.kind) and part in trick.name]
    if not found:
        raise TrickError(f"--tricks {folder}: no candidate for {device.device} among them")
    return found


def job_of(trick: Trick, scratch: Path, device: str, target: str) -> Job:
    """The evaluation of `trick`, short: few trials and bursts, limits of seconds."""
    against = trick.against
    return Job(
        job_id="trick",
        problem=trick.problem,
        backend=trick.backend,
        device=device,
        target=target,
        cases=(Case("case", trick.params),),
        candidate=trick.source,
        incumbent=Source(against.name, against.read_text()) if against else None,
        scratch=scratch,
        protocol=Protocol(
            blocks=2 if against else 1,
            burst_ms=float(trick.words.get("burst_ms", 0.5)),
            max_slots=int(trick.words.get("calls", 16)),
            arena_mib=64 if device == "cpu" else 2048,
            trials=3,
            limits=LIMITS,
        ),
        timed=trick.words.get("timed") != "no",
    )
