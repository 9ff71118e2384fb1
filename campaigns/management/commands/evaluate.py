"""`evaluate CANDIDATE --problem DIR`: one file through the judge, no campaign, no database."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from campaigns.devices.discover import Device
from campaigns.devices.explain import read_code, sanitize
from campaigns.evaluator.contract import Job, Outcome, Report, backends
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.programs import NONE_COMPILED
from campaigns.evaluator.contract.report import CROWDED, MEMORY
from campaigns.management.base_command import Argument, ExitCode, argument
from campaigns.management.facts import spread_words
from campaigns.management.one_file import FILE, OneFileCommand
from campaigns.records.cases import case_rows
from campaigns.records.findings import stored_findings
from campaigns.records.noise import never_waits
from campaigns.rules.noise.drift import taken_by_others
from campaigns.rules.verdict.decision import Decision, Reason
from campaigns.rules.verdict.finding_kinds import LENIENT, Examined
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import against_words, decide_session
from campaigns.rules.verdict.report_words import (
    code_words,
    flag_words,
    function_words,
    notes_of,
)
from campaigns.rules.verdict.sanitizers import found_words, passed
from campaigns.rules.wording import duration, share
from campaigns.steps.problems import Floors, floors_here
from campaigns.syntax.findings.find import findings_of

# How many of the last lines that a crashed candidate printed are shown; `--json` has them all.
LAST_WORDS = 8


class Command(OneFileCommand):
    help = (
        "Measure one candidate file. Exit 0: it passed; 5: it did not, or this host cannot say, "
        "as where a comparison is undecided; "
        "1: the command or the problem has a fault. With KOPT_SANDBOX=all a host "
        "without every layer of the sandbox evaluates nothing."
    )

    def arguments(self) -> tuple[Argument, ...]:
        return (
            *FILE,
            argument("--against", type=Path, help="a file to compare it with, in paired runs"),
            argument(
                "--against-backend", help="of --against, where it is not the candidate's: torch, …"
            ),
            argument(
                "--against-flag",
                action="append",
                help="a compiler flag of --against beside those of problem.toml; default: those of "
                "--flag; --against-flag= is none",
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
        spec, device, job = self.asked(options)
        with self.served(job, device) as (job, service):
            report = service.evaluate(job, self.phase_printer())
            if options["sanitize"]:
                report = replace(report, sanitized=sanitize(job, service))
            if options["machine_code"]:
                report = replace(report, machine_code=read_code(job, service))
        examined = Examined(job.candidate.name, findings_of(job.candidate), LENIENT)
        floors, lesser = self._floors(report, job, spec, device)
        standard = Standard(
            job.incumbent is not None,
            examined=examined,
            floors=floors,
            lesser_floors=lesser,
            has_kernels=_has_kernels(job, report),
        )
        decision = _on_quiet_host(decide_session(report, standard), report)
        apart = ""
        if job.incumbent and job.backend == job.incumbent_backend:
            apart = flag_words(job.candidate.flags, job.incumbent.flags)
            decision = replace(decision, sentence=f"{apart} {decision.sentence}".strip())
        text = _text(report, decision, examined)
        self.emit(_facts(report, decision, examined), f"{apart}\n{text}".strip())
        self.require_passed(report)
        if decision.reason in (Reason.NOT_ITS_OWN_KERNEL, Reason.UNDECIDED):
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


def _on_quiet_host(decision: Decision, report: Report) -> Decision:
    """The decision; undecided if other programs kept the host busy meanwhile."""
    taken = taken_by_others(report)
    by_times = decision.gain is not None or decision.reason is Reason.FITTED
    if not by_times or taken < CROWDED or never_waits():
        return decision
    gain = f"{against_words(decision.gain)}, while " if decision.gain else ""
    found = f"{gain}others had {share(taken)} of the CPUs"
    sentence = f"Undecided: {found}. Measure again where they have less than {share(CROWDED)}."
    return replace(decision, reason=Reason.UNDECIDED, sentence=sentence)


def _has_kernels(job: Job, report: Report) -> bool | None:
    """Tell whether a Triton source that was judged in the interpreter has a kernel to compile."""
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
        if row["cpu_us"]:
            line += f", {duration(row['cpu_us'])} of CPU time on {row['cores']:.1f} cores"
        lines.append(line)
    planned = (words for name, words in report.environment.items() if name == MEMORY)
    lines += [f"  memory planned: {words}" for words in planned]
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
