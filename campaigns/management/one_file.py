"""One file through the judge: arguments, job and run, for each command that does it."""

from __future__ import annotations

import argparse
import contextlib
import errno
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings

from campaigns.devices.discover import Device, DeviceError, this_device
from campaigns.devices.hold import hold
from campaigns.devices.launch import Beat, EvaluatorService
from campaigns.evaluator.contract import Case, Job, Outcome, Phase, Report, Source, backends
from campaigns.evaluator.contract.backends import BACKEND_OF
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.evaluator.contract.programs import OFFLINE_TARGET
from campaigns.management.base_command import BaseCommand, ExitCode, Exits, argument
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.entries import adapted
from campaigns.steps.lifecycle.create_campaign import protocol_for
from campaigns.steps.problems import problem_here


def whole_above_zero(text: str) -> int:
    """A whole number above zero."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}; accepted: a whole number above zero")
    return int(text)


BACKENDS = (*dict.fromkeys(BACKEND_OF.values()), "torch")
LARGEST_SOURCE = 1 << 20
PATIENCE_S = 600.0
DEVICE = argument(
    "--device", help="cpu or cuda:<index>; default: this host's first GPU, else the CPU"
)
SOURCE = (
    argument("candidate", type=Path),
    argument("--problem", required=True, help="a problem's name, name@digest, or a problem folder"),
    argument("--backend", help="cpp, cuda, torch or triton; default: by the file's ending"),
    argument(
        "--case",
        action="append",
        default=[],
        help="the name of a case; may be repeated; default: all",
    ),
    argument(
        "--flag",
        action="append",
        default=[],
        help="a compiler flag beside those of problem.toml: --flag=-O3",
    ),
)
TARGET = argument(
    "--target",
    help="what to compile for: sm_90a, gfx942, …; default: the device's own, and "
    f"{OFFLINE_TARGET} for a GPU's kernel without one",
)
FILE = (*SOURCE, DEVICE, TARGET)
# What is going on in a phase; when it is done the answer says so.
DOING = {
    Phase.START: "starting",
    Phase.BUILD: "building",
    Phase.LOAD: "loading",
    Phase.CHECK: "checking",
    Phase.PREPARE: "preparing to time",
    Phase.BURST: "bursts on",
}


class OneFileCommand(BaseCommand):
    """A command that has files judged; its options are those of `FILE` and maybe more.

    calls: whether the file is called; one that is only built may be for a device that is not here.
    """

    calls: ClassVar[bool] = True
    exits: ClassVar[Exits] = {DeviceError: ExitCode.USAGE, DraftError: ExitCode.USAGE}

    def asked(self, options: dict[str, Any]) -> tuple[ProblemSpec, Device, Job]:
        """The problem, the device and the job, or the end of the command."""
        spec = problem_here(options["problem"])
        device = this_device(options["device"])
        return spec, device, self._job(options, spec, device)

    @contextlib.contextmanager
    def served(self, job: Job, device: Device) -> Iterator[tuple[Job, EvaluatorService]]:
        """The job with a scratch folder of its own, and a service, while the device is held."""
        self.progress(f"{job.candidate.name} on {device.name}")
        scratch = Path(settings.DATA_DIR) / "scratch"
        try:
            scratch.mkdir(parents=True, exist_ok=True)
            with (
                tempfile.TemporaryDirectory(prefix="evaluate-", dir=scratch) as folder,
                hold(device, wait_s=PATIENCE_S),
                EvaluatorService(borrows=True) as service,
            ):
                yield replace(job, scratch=Path(folder) / "scratch"), service
        except OSError as error:
            words = "disk full" if error.errno == errno.ENOSPC else error.strerror
            self.fail(ExitCode.USAGE, f"{words}: {error.filename or scratch}")

    def phase_printer(self) -> Beat:
        """A callback that prints each phase and case that takes a second or more, once."""
        last = ""

        def beat(phase: str) -> None:
            nonlocal last
            if phase not in (last, Phase.DONE):
                last = phase
                name, _, case = phase.partition(" ")
                self.progress(f"  {DOING[Phase(name)]} {case}".rstrip())

        return beat

    def require_passed(self, report: Report) -> None:
        """End the command for whatever did not pass, or a problem at fault."""
        if report.problem_fault:
            self.fail(ExitCode.USAGE, f"problem: {report.reason}")
        if report.outcome is not Outcome.PASSED:
            self.fail(ExitCode.NOT_ACCEPTED, f"{report.outcome}: {report.reason}")

    def _job(self, options: dict[str, Any], spec: ProblemSpec, device: Device) -> Job:
        """Check everything that can be wrong before a process is started."""
        candidate, against = options["candidate"], options.get("against")
        backend = self._backend(options["backend"], candidate)
        other = options.get("against_backend") or backend
        if against and other != backend:
            other = self._backend(other, against)
        for one in {backend, other}:
            found = backends.get(one)
            # Without a GPU a kernel for one can at least be compiled, where its compiler is.
            if device.kind not in found.kinds and not (one != "cpp" and found.compiler()):
                without = "" if one == "cpp" else f", and no compiler of {one} is here"
                needs = f"{one} needs a {' or '.join(found.kinds)}, this is {device.name}"
                self.fail(ExitCode.USAGE, f"backend: {needs}{without}")
        flags, apart = options["flag"], options.get("against_flag")
        # Both arms are compiled alike, unless a difference is asked for.
        theirs = flags if apart is None and other == backend else apart or ()
        return Job(
            job_id=f"evaluate-{candidate.name}",
            problem=spec.folder,
            backend=backend,
            device=device.device,
            target=self._target(options["target"], backend, device),
            cases=self._cases(options["case"], spec, backend, device),
            candidate=self._source(candidate, spec, backend, flags),
            incumbent=self._source(against, spec, other, theirs) if against else None,
            incumbent_backend=other,
            scratch=Path(settings.DATA_DIR),
            protocol=protocol_for(device.kind),
            timed=not options.get("no_timing"),
        )

    def _target(self, named: str | None, backend: str, device: Device) -> str:
        """What to compile for: as named, the device's own, or for a GPU that is not here."""
        offline = device.kind == "cpu" and backend != "cpp"
        target = named or (OFFLINE_TARGET if offline else device.target)
        targets = backends.get(backend).targets
        if targets and (why := targets.refusal(target)):
            self.fail(ExitCode.USAGE, f"{why} by {backend}")
        if backend == "cpp" and target != device.target:
            self.fail(ExitCode.USAGE, f"target: {target!r}; accepted by cpp: {device.target}")
        return target

    def _backend(self, named: str | None, path: Path) -> str:
        backend = named or BACKEND_OF.get(path.suffix)
        if backend in BACKENDS:
            return str(backend)
        if not named:
            endings = ", ".join(BACKEND_OF)
            self.fail(ExitCode.USAGE, f"{path.name}: accepted: a name in {endings}, or --backend")
        self.fail(ExitCode.USAGE, f"backend: {backend!r}; accepted: {', '.join(sorted(BACKENDS))}")

    def _cases(
        self, wanted: list[str], spec: ProblemSpec, backend: str, device: Device
    ) -> tuple[Case, ...]:
        """The named cases for the device; else those that the backend is tried on."""
        only_built = backend == "cuda" or (backend != "cpp" and not self.calls)
        if only_built and device.kind == "cpu":
            # One case tells the arguments of what is only built. The least takes no memory; what
            # is read of a kernel is of the same case as in a campaign.
            cases = spec.cases_on("gpu") or spec.cases
            one = min(cases, key=lambda case: case.size) if self.calls else cases[0]
            wanted = wanted or [one.name]
            device = replace(device, kind="gpu")
        usual = spec.cases_of(backend, device.kind)
        meant = {case.name: case.case for case in (*usual, *spec.cases_on(device.kind))}
        for name in wanted:
            if name not in meant:
                accepted = ", ".join(meant) or "none"
                self.fail(ExitCode.USAGE, f"case: {name!r}; accepted on {device.kind}: {accepted}")
        if not meant:
            self.fail(ExitCode.USAGE, f"problem: {spec.name} has no case for a {device.kind}")
        names = wanted or [case.name for case in usual]
        return tuple(case for name, case in meant.items() if name in names)

    def _source(self, path: Path, spec: ProblemSpec, backend: str, more: Sequence[str]) -> Source:
        """The file; in the form in which the problem's kernel was brought, with what that got.

        more: compiler flags beside those of problem.toml; "" is none.
        """
        if not path.is_file():
            self.fail(ExitCode.NOT_FOUND, f"{path}: no such file")
        if path.stat().st_size > LARGEST_SOURCE:
            self.fail(ExitCode.USAGE, f"{path}: accepted: at most {LARGEST_SOURCE:,} bytes")
        try:
            text = path.read_text(encoding="utf-8")
            if first := spec.files.get(backend):
                text = adapted(path.name, text, (spec.folder / first).read_text("utf-8"), path)
            flags = (*spec.flags.get(backend, ()), *filter(None, more))
            return Source(name=path.name, text=text, flags=flags)
        except UnicodeDecodeError as error:
            self.fail(ExitCode.USAGE, f"{path}: not UTF-8 text: {error.reason}")
        except OSError as error:
            self.fail(ExitCode.USAGE, f"{path}: {error.strerror}")
