"""`evaluate CANDIDATE --problem DIR`: one file through the judge, no campaign, no database."""

from __future__ import annotations

import errno
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings

from campaigns.devices.discover import Device, DeviceError, this_device
from campaigns.devices.hold import hold
from campaigns.devices.launch import Beat, EvaluatorService
from campaigns.evaluator.contract import Case, Job, Outcome, Phase, Report, Source, backends
from campaigns.evaluator.contract.backends import BACKEND_OF
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.programs import NONE_COMPILED, OFFLINE_TARGET
from campaigns.management.base_command import Argument, BaseCommand, ExitCode, Exits, argument
from campaigns.management.facts import spread_words
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.entries import adapted
from campaigns.records.cases import case_rows
from campaigns.records.findings import stored_findings
from campaigns.rules.verdict.decision import Decision, Reason
from campaigns.rules.verdict.finding_kinds import Examined, FindingKind, Stance
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.verdict.report_words import code_words, function_words, notes_of
from campaigns.rules.verdict.sanitizers import found_words, passed
from campaigns.steps.lifecycle.create_campaign import protocol_for
from campaigns.steps.measuring.explain import read_code, sanitize
from campaigns.steps.problems import Floors, find_problem, floors_here
from campaigns.syntax.findings.find import findings_of

BACKENDS = (*dict.fromkeys(BACKEND_OF.values()), "torch")
LARGEST_SOURCE = 1 << 20
# How many of the last lines that a crashed candidate printed are shown; `--json` has them all.
LAST_WORDS = 8
PATIENCE_S = 600.0
# What is going on in a phase; when it is done the answer says so.
DOING = {
    Phase.START: "starting",
    Phase.BUILD: "building",
    Phase.LOAD: "loading",
    Phase.CHECK: "checking",
    Phase.PREPARE: "preparing to time",
    Phase.BURST: "bursts on",
}


class Command(BaseCommand):
    help = (
        "Measure one candidate file. Exit 0: it passed; 5: it did not, or this host cannot say; "
        "1: the command or the problem has a fault. With KOPT_SANDBOX=all a host "
        "without every layer of the sandbox evaluates nothing."
    )
    exits: ClassVar[Exits] = {DeviceError: ExitCode.USAGE, DraftError: ExitCode.USAGE}

    def arguments(self) -> tuple[Argument, ...]:
        return (
            argument("candidate", type=Path),
            argument("--problem", required=True, help="a shipped problem or a problem folder"),
            argument("--backend", help="cpp, cuda, torch or triton; default: by the file's ending"),
            argument("--against", type=Path, help="a file to compare it with, in paired runs"),
            argument(
                "--against-backend", help="of --against, where it is not the candidate's: torch, …"
            ),
            argument(
                "--case",
                action="append",
                default=[],
                help="the name of a case; may be repeated; default: all",
            ),
            argument("--flag", action="append", default=[], help="a compiler flag: --flag=-O3"),
            argument(
                "--against-flag", action="append", default=[], help="a compiler flag of --against"
            ),
            argument(
                "--device", help="cpu or cuda:<index>; default: this host's first GPU, else the CPU"
            ),
            argument(
                "--target",
                help="what to compile for: sm_90a, gfx942, …; default: the device's own, and "
                f"{OFFLINE_TARGET} for a GPU's kernel without one",
            ),
            argument("--no-timing", action="store_true", help="check the results only"),
            argument(
                "--sanitize",
                action="store_true",
                help="also run it under the sanitizers of this host, on the smallest case; "
                "exit 5 when they find something, 1 when none of them could run",
            ),
            argument(
                "--machine-code",
                action="store_true",
                help="also count the instructions that it is compiled to, by kind",
            ),
        )

    def run(self, **options: Any) -> None:
        spec = load_problem(find_problem(options["problem"]))
        device = this_device(options["device"])
        job = self._job(options, spec, device)
        self.progress(f"{job.candidate.name} on {device.name}")
        scratch = Path(settings.DATA_DIR) / "scratch"
        try:
            scratch.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="evaluate-", dir=scratch) as folder:
                job = replace(job, scratch=Path(folder) / "scratch")
                with (
                    hold(device, wait_s=PATIENCE_S),
                    EvaluatorService(borrows=True) as service,
                ):
                    report = service.evaluate(job, self._phase_printer())
                    if options["sanitize"]:
                        report = replace(report, sanitized=sanitize(job, service))
                    if options["machine_code"]:
                        report = replace(report, machine_code=read_code(job, service))
        except OSError as error:
            words = "disk full" if error.errno == errno.ENOSPC else error.strerror
            self.fail(ExitCode.USAGE, f"{words}: {error.filename or scratch}")
        # No campaign, so no policy that could refuse: what is found is flagged, and that is all.
        examined = Examined(
            job.candidate.name,
            findings_of(job.candidate),
            dict.fromkeys(FindingKind, Stance.FLAGGED),
        )
        floors, lesser = self._floors(report, job, spec, device)
        standard = Standard(
            job.incumbent is not None,
            examined=examined,
            floors=floors,
            lesser_floors=lesser,
            has_kernels=_has_kernels(job, report),
        )
        decision = decide_session(report, standard)
        self.emit(_facts(report, decision, examined), _text(report, decision, examined))
        if report.problem_fault:
            self.fail(ExitCode.USAGE, f"problem: {report.reason}")
        if report.outcome is not Outcome.PASSED:
            self.fail(ExitCode.NOT_ACCEPTED, f"{report.outcome}: {report.reason}")
        if decision.reason is Reason.NOT_ITS_OWN_KERNEL:
            self.fail(ExitCode.NOT_ACCEPTED, decision.sentence)
        if options["sanitize"] and not passed(report.sanitized):
            # What the sanitizers found, or why none could look.
            none_ran = passed(report.sanitized) is None
            code = ExitCode.USAGE if none_ran else ExitCode.NOT_ACCEPTED
            self.fail(code, f"sanitize: {found_words(report.sanitized)}")

    def _floors(self, report: Report, job: Job, spec: ProblemSpec, device: Device) -> Floors:
        """What no kernel can beat on this device, where its ceilings are known (law 6)."""
        if not any(case.candidate for case in report.cases):
            return {}, {}
        try:
            return floors_here(device.name, spec, job.cases)
        except ProblemError as error:
            self.fail(ExitCode.USAGE, f"problem: {error}")

    def _phase_printer(self) -> Beat:
        """A callback that prints each phase and case that takes a second or more, once."""
        last = ""

        def beat(phase: str) -> None:
            nonlocal last
            if phase not in (last, Phase.DONE):
                last = phase
                name, _, case = phase.partition(" ")
                self.progress(f"  {DOING[Phase(name)]} {case}".rstrip())

        return beat

    def _job(self, options: dict[str, Any], spec: ProblemSpec, device: Device) -> Job:
        """Check everything that can be wrong before a process is started."""
        candidate, against = options["candidate"], options["against"]
        backend = self._backend(options["backend"], candidate)
        other = options["against_backend"] or backend
        if against and other != backend:
            other = self._backend(other, against)
        for one in {backend, other}:
            found = backends.get(one)
            # Without a GPU a kernel for one can at least be compiled, where its compiler is.
            if device.kind not in found.kinds and not (one != "cpp" and found.compiler()):
                without = "" if one == "cpp" else f", and no compiler of {one} is here"
                needs = f"{one} needs a {' or '.join(found.kinds)}, this is {device.name}"
                self.fail(ExitCode.USAGE, f"backend: {needs}{without}")
        offline = device.kind == "cpu" and backend != "cpp"
        flags = tuple(options["against_flag"])
        return Job(
            job_id=f"evaluate-{candidate.name}",
            problem=spec.folder,
            backend=backend,
            device=device.device,
            target=options["target"] or (OFFLINE_TARGET if offline else device.target),
            cases=self._cases(options["case"], spec, backend, device),
            candidate=self._source(candidate, spec, backend, tuple(options["flag"])),
            incumbent=self._source(against, spec, other, flags) if against else None,
            incumbent_backend=other,
            scratch=Path(settings.DATA_DIR),
            protocol=protocol_for(device.kind),
            timed=not options["no_timing"],
        )

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
        """Those named, of all that are meant for the device; else what the backend is tried on."""
        if backend == "cuda" and device.kind == "cpu":
            # It is only built here, so one case tells the arguments, and the least takes no memory.
            least = min(spec.cases_on("gpu") or spec.cases, key=lambda case: case.size)
            wanted = wanted or [least.name]
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

    def _source(
        self, path: Path, spec: ProblemSpec, backend: str, flags: tuple[str, ...] = ()
    ) -> Source:
        """The file; in the form in which the problem's kernel was brought, with what that got."""
        if not path.is_file():
            self.fail(ExitCode.NOT_FOUND, f"{path}: no such file")
        if path.stat().st_size > LARGEST_SOURCE:
            self.fail(ExitCode.USAGE, f"{path}: accepted: at most {LARGEST_SOURCE:,} bytes")
        try:
            text = path.read_text(encoding="utf-8")
            if first := spec.files.get(backend):
                text = adapted(path.name, text, (spec.folder / first).read_text("utf-8"), path)
            return Source(name=path.name, text=text, flags=flags)
        except UnicodeDecodeError as error:
            self.fail(ExitCode.USAGE, f"{path}: not UTF-8 text: {error.reason}")
        except OSError as error:
            self.fail(ExitCode.USAGE, f"{path}: {error.strerror}")


def _has_kernels(job: Job, report: Report) -> bool | None:
    """Of a kernel in Triton that its interpreter judged, whether there was one to compile."""
    is_timed = any(case.candidate for case in report.cases)
    if job.backend != "triton" or job.device != "cpu" or is_timed:
        return None
    defined = backends.get(job.backend).kernels(job.candidate.text)
    return bool(defined) and f"compiled for {job.target}: {NONE_COMPILED}\n" not in (
        f"{report.build_log}\n"
    )


def _facts(report: Report, decision: Decision, examined: Examined) -> dict[str, Any]:
    gain = decision.gain
    return {
        "outcome": "problem" if report.problem_fault else report.outcome.value,
        "problem_fault": report.problem_fault,
        "verdict": decision.verdict.words,
        "reason": decision.reason.value,
        "message": report.reason or decision.sentence,
        "phase": report.phase.value,
        "gain": gain.gain if gain else None,
        "gain_low": gain.low if gain else None,
        "gain_high": gain.high if gain else None,
        "cases": case_rows(report.cases, decision.cases),
        "build_log": report.build_log,
        "runner_log": report.runner_log,
        "notes": list(notes_of(report)),
        "gates": [asdict(gate) for gate in decision.gates],
        "findings": stored_findings(examined.findings),
        "sanitized": [asdict(one) for one in report.sanitized],
        "machine_code": asdict(report.machine_code) if report.machine_code else None,
        "environment": dict(report.environment),
        "wall_s": dict(report.wall_s),
    }


def _text(report: Report, decision: Decision, examined: Examined) -> str:
    if report.problem_fault:
        return f"the problem has a fault: {report.reason}; the candidate was not judged"
    has_own = decision.reason is not Reason.NOT_ITS_OWN_KERNEL
    outcome = report.outcome if has_own else "no kernel of its own"
    lines = [f"{outcome}; verdict: {decision.verdict.words} ({decision.reason.words})"]
    lines = [report.outcome.words] if report.outcome is Outcome.NOT_JUDGED else lines
    for row in case_rows(report.cases, decision.cases):
        times, margin = row["time_us"], row["margin"]
        line = f"  {row['case']:16} {'correct' if row['correct'] else 'wrong'}"
        if row["correct"] and margin is not None:
            line += f" in {row['checked_calls']} calls, error at most {margin:.2g} × tolerance"
        if times:
            line += f", {spread_words(times)}"
        lines.append(line)
    lines += [f"  note: {note}" for note in notes_of(report)]
    lines += [f"  sanitizer: {found_words((one,))}" for one in report.sanitized]
    lines += [
        f"    {fault.file} line {fault.line}: {fault.kind}, {fault.what}"
        for one in report.sanitized
        for fault in one.faults
    ]
    code = report.machine_code
    if code is not None and not code.functions:
        lines.append(f"  machine code: {code_words(code)}")
    elif code is not None:
        lines.append(f"  machine code ({code.tool}):")
        lines += [f"    {one.name}: {function_words(one)}" for one in code.functions]
    lines += [f"  finding: line {f.line}, {f.what} ({f.kind.words})" for f in examined.findings]
    if examined.findings:
        lines.append(
            "  findings are hints for a reviewer; `evaluate` refuses nothing because of them"
        )
    if report.outcome is Outcome.CRASHED:
        lines += [f"  it printed: {line}" for line in report.runner_log.splitlines()[-LAST_WORDS:]]
    return "\n".join([*lines, decision.sentence, report.build_log.strip()]).strip()
