"""`bench`: what measuring itself costs, whom it believes, and whether a big wiki stays quick."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings

from campaigns.benchmarks.precision.measure import Amounts, PrecisionError, measure_precision
from campaigns.benchmarks.precision.page import to_markdown as precision_text
from campaigns.benchmarks.proof_cost import ProofCostError, measure_proofs
from campaigns.benchmarks.proof_cost import to_markdown as proofs_text
from campaigns.benchmarks.soak.page import to_markdown as soak_text
from campaigns.benchmarks.soak.run import SoakError, Verdict, soak
from campaigns.benchmarks.start_cost import StartCostError, compare_starts, to_markdown
from campaigns.benchmarks.trust import peers
from campaigns.benchmarks.trust.contest import Clock, hold_contest
from campaigns.benchmarks.trust.page import to_markdown as trust_text
from campaigns.benchmarks.trust.trick import KINDS, TRICKS, Trick, TrickError, every
from campaigns.benchmarks.wiki import Size, measure_wiki
from campaigns.benchmarks.wiki import to_markdown as wiki_text
from campaigns.devices.discover import Device, DeviceError, this_device
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.evaluator.backends import base as backends
from campaigns.evaluator.problem import ProblemError, ProblemSpec, load_problem
from campaigns.management.door import Door, ExitCode, Verb, argument
from campaigns.rules.noise import LEAST_PAIRS
from campaigns.shipped import UnknownProblem, problem_folder, shipped_folders

REPEATS = 10
MIB = 1024
SESSIONS, SAME, KNOWN = 3, 40, 10
JOBS = max(1, (os.cpu_count() or 2) // 2)
LIMIT_S = 3600.0
SOAK, HOSTILE = 1000, 5
SOAKED = {"cpu": "cpp", "gpu": "cuda"}
# What runs where: triton candidates are judged on a CPU, too, in Triton's interpreter.
TRICK_BACKENDS = {"cpu": ("cpp", "triton"), "gpu": ("triton", "cuda")}


STARTS = (
    argument("--device", help="cpu or cuda:<index>; default: the one measured on"),
    argument("--problem", default="vector_add", help="shipped name or folder"),
    argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}"),
    argument("--out", type=Path, help="write a report here; .json or .md"),
)
PROOFS = (
    argument("--device", help="cuda:<index>; default: the one measured on"),
    argument("--mib", type=int, default=MIB, help=f"of inputs and answers; default: {MIB}"),
    argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}"),
    argument("--out", type=Path, help="write a report here; .json or .md"),
)
ALIKE = argument(
    "--device",
    action="append",
    help="cpu or cuda:<index>, several for GPUs alike; default: the one measured on",
)
PRECISE = (
    ALIKE,
    argument("--backend", action="append", help="default: all that run on the device"),
    argument("--problem", action="append", help="shipped name or folder; default: all"),
    argument("--sessions", type=int, default=SESSIONS, help=f"default: {SESSIONS}"),
    argument("--same", type=int, default=SAME, help=f"A/A comparisons; default: {SAME}"),
    argument("--known", type=int, default=KNOWN, help=f"true gains; default: {KNOWN}"),
    argument(
        "--limit-s",
        type=float,
        default=LIMIT_S,
        help=f"default: {LIMIT_S:.0f}; then what has been compared is reported",
    ),
    argument("--out", type=Path, help="folder for precision.json and precision.md"),
)
LARGE = (
    argument("--specs", type=int, default=100_000, help="default: 100000"),
    argument("--documents", type=int, default=5_000, help="default: 5000"),
    argument("--out", type=Path, help="write a report here; .json or .md"),
)
TRUST = (
    ALIKE,
    argument("--kernelbench", type=Path, help="checkout of KernelBench; needs a GPU"),
    argument("--sol", type=Path, help="checkout of SOL-ExecBench; needs a GPU"),
    argument(
        "--tricks", type=Path, default=TRICKS, help="folder of candidates; default: kopt's own"
    ),
    argument("--backend", action="append", help="default: all that run on the device"),
    argument("--only", help="only candidates whose backend/name holds this text"),
    argument("--jobs", type=int, default=JOBS, help=f"evaluations at once; default: {JOBS}"),
    argument("--limit-s", type=float, default=LIMIT_S, help=f"default: {LIMIT_S:.0f}"),
    argument("--out", type=Path, help="write a report here; .json or .md"),
)
SOAK_OPTIONS = (
    argument("--device", help="cpu or cuda:<index>; default: the one measured on"),
    argument("--evaluations", type=int, default=SOAK, help=f"default: {SOAK}"),
    argument("--hostile-every", type=int, default=HOSTILE, help=f"default: {HOSTILE}"),
    argument(
        "--tricks", type=Path, default=TRICKS, help="folder of candidates; default: kopt's own"
    ),
    argument("--backend", action="append", help="default: the one that is timed"),
    argument("--out", type=Path, help="write a report here; .json or .md"),
)


class Command(Door):
    help = "What measuring itself costs, whom it believes, and whether a big wiki stays quick."

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("soak", "many evaluations in a row: leaks and slowness", self.soak, SOAK_OPTIONS),
            Verb(
                "trust",
                "the same candidates through several evaluators; only this one's have a sandbox",
                self.trust,
                TRUST,
            ),
            Verb("evaluator", "fork against fresh interpreter", self.evaluator, STARTS),
            Verb("proofs", "the judge's own work on a GPU against a copy", self.proofs, PROOFS),
            Verb(
                "precision",
                "slope against device time, A/A, and gains that are known",
                self.precision,
                PRECISE,
            ),
            Verb("wiki", "lookup, sheet and check of a made-up big wiki", self.wiki, LARGE),
        )

    def precision(self, *, device: list[str] | None, out: Path | None, **options: Any) -> None:
        try:
            found = _alike(device)
            named = options["problem"]
            folders = [problem_folder(name) for name in named] if named else shipped_folders()
            specs = [load_problem(folder) for folder in folders]
            kernels = [(s, b) for s in specs for b in _backends(found[0], s, options["backend"])]
            with _hold_all(found):
                asked = (options[name] for name in ("sessions", "same", "known", "limit_s"))
                amounts = Amounts(*asked)
                precision = measure_precision(found, kernels, amounts, self.progress)
        except (DeviceError, UnknownProblem) as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, ProblemError, PrecisionError) as error:
            self.fail(ExitCode.USAGE, str(error))
        data, text = asdict(precision), precision_text(precision)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / "precision.json").write_text(json.dumps(data, indent=1) + "\n")
            (out / "precision.md").write_text(text)
        self.emit(data, text.rstrip())

    def trust(self, *, device: list[str] | None, out: Path | None, **options: Any) -> None:
        self._require_name(out)
        if settings.KOPT_SANDBOX == "ALL":
            # Each of them runs a candidate as the user of this command, dishonest ones too.
            why = "the other evaluators run candidates without a sandbox"
            self.fail(ExitCode.USAGE, f"KOPT_SANDBOX=all: {why}")
        try:
            found = _alike(device)
            others = _peers(found[0], options["kernelbench"], options["sol"])
            tricks = _tricks(found[0], options["tricks"], options["backend"], options["only"])
            clock = Clock(options["limit_s"], self.progress)
            with _hold_all(found):
                contest = hold_contest(found, tricks, others, options["jobs"], clock)
        except DeviceError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, ProblemError, TrickError, peers.PeerError) as error:
            self.fail(ExitCode.USAGE, str(error))
        self._report(out, asdict(contest), trust_text(contest, _command()))

    def soak(self, *, device: str | None, out: Path | None, **options: Any) -> None:
        count, every = options["evaluations"], options["hostile_every"]
        if not 2 <= every <= count:
            self.fail(ExitCode.USAGE, f"--hostile-every {every}: 2 to {count} is accepted")
        self._require_name(out)
        try:
            found = this_device(device)
            backends = options["backend"] or [SOAKED[found.kind]]
            tricks = _tricks(found, options["tricks"], backends, None)
            honest, hostile = ([t for t in tricks if t.honest is kind] for kind in (True, False))
            with hold(found):
                result = soak(found, honest, hostile, count, every, self.progress)
        except DeviceError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, TrickError, SoakError) as error:
            self.fail(ExitCode.USAGE, str(error))
        self._report(out, asdict(result), soak_text(result, _command()))
        if result.verdict is not Verdict.HELD:
            why = result.leaks or f"throughput against a fresh one {result.against_fresh.brief}"
            self.fail(ExitCode.USAGE, f"{result.verdict}: {why}")

    def evaluator(self, *, device: str | None, problem: str, **options: Any) -> None:
        repeats, out = options["repeats"], options["out"]
        if repeats < LEAST_PAIRS:
            self.fail(ExitCode.USAGE, f"--repeats {repeats}: at least {LEAST_PAIRS} are accepted")
        self._require_name(out)
        try:
            found = this_device(device)
            with hold(found):
                costs = compare_starts(found, problem_folder(problem), repeats, self.progress)
        except (DeviceError, UnknownProblem) as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, ProblemError, StartCostError) as error:
            self.fail(ExitCode.USAGE, str(error))
        gain = costs.ratio
        ratio = {"ratio": 1 + gain.gain, "low": 1 + gain.low, "high": 1 + gain.high}
        data = asdict(costs) | ratio | {"pairs": gain.pairs}
        self._report(out, data, to_markdown(costs))

    def proofs(
        self, *, device: str | None, mib: int, repeats: int, out: Path | None, **options: Any
    ) -> None:
        if repeats < LEAST_PAIRS or mib < 1:
            least = f"at least {LEAST_PAIRS} repeats and 1 MiB are accepted"
            self.fail(ExitCode.USAGE, f"--repeats {repeats} --mib {mib}: {least}")
        self._require_name(out)
        try:
            found = this_device(device)
            if found.kind != "gpu":
                self.fail(ExitCode.USAGE, f"--device {found.device}: on a GPU only; cuda:<index>")
            with hold(found):
                costs = measure_proofs(found, mib, repeats)
        except DeviceError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, ProofCostError) as error:
            self.fail(ExitCode.USAGE, str(error))
        self._report(out, asdict(costs), proofs_text(costs))

    def wiki(self, *, specs: int, documents: int, out: Path | None, **options: Any) -> None:
        if not 1 <= documents <= specs:
            self.fail(
                ExitCode.USAGE, f"--documents {documents}: 1 to --specs ({specs}) is accepted"
            )
        self._require_name(out)
        times = measure_wiki(Size(specs, documents), self.progress)
        data = asdict(times) | {"lookup_ratio": times.lookup_ratio}
        self._report(out, data, wiki_text(times))

    def _require_name(self, out: Path | None) -> None:
        if out is not None and out.suffix not in (".json", ".md"):
            self.fail(ExitCode.USAGE, f"--out {out}: a name ending in .json or .md is accepted")

    def _report(self, out: Path | None, data: dict[str, Any], text: str) -> None:
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n" if out.suffix == ".json" else text)
        self.emit(data, text.rstrip())


def _command() -> str:
    """This command as another machine would be given it: folders by their names alone."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return " ".join(["python", "manage.py", *words])


def _alike(names: list[str] | None) -> list[Device]:
    """Raises DeviceError for devices that are not alike, and for one that is there twice."""
    devices = [this_device(name) for name in names] if names else [this_device()]
    once = {device.uuid for device in devices}
    if len({device.name for device in devices}) > 1 or len(once) < len(devices):
        named = ", ".join(f"{device.device} ({device.name})" for device in devices)
        raise DeviceError(f"--device: {named}; accepted: one, or several different ones of a name")
    return devices


@contextmanager
def _hold_all(devices: list[Device]) -> Iterator[None]:
    with ExitStack() as held:
        for device in devices:
            held.enter_context(hold(device))
        yield


def _peers(device: Device, *folders: Path | None) -> list[peers.Peer]:
    """The plain harness, and those that a folder is named for; they only know CUDA devices."""
    named = zip((peers.KERNELBENCH, peers.SOL), folders, strict=True)
    asked = [peers.at(peer, folder) for peer, folder in named if folder is not None]
    if asked and device.kind != "gpu":
        raise peers.PeerError(f"{asked[0].name} evaluates on a CUDA device only, not on a CPU")
    return [*asked, peers.PLAIN]


def _tricks(
    device: Device, folder: Path, wanted: list[str] | None, only: str | None
) -> list[Trick]:
    names = [name for name in TRICK_BACKENDS[device.kind] if not wanted or name in wanted]
    found = [trick for name in names for kind in KINDS for trick in every(folder, kind, name)]
    found = [trick for trick in found if trick.runs_on(device.kind)]
    found = [trick for trick in found if not only or only in trick.name]
    if not found:
        raise TrickError(f"--tricks {folder}: no candidate for {device.device} among them")
    return found


def _backends(device: Device, spec: ProblemSpec, wanted: list[str] | None) -> list[str]:
    timed = {name for name, backend in backends.every().items() if device.kind in backend.kinds}
    return [name for name in spec.files if name in timed and (not wanted or name in wanted)]
