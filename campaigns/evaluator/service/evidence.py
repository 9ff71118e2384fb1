"""What only logs, records and exit statuses can tell, added to a judge's report.

A process that held the candidate may have written any of it: it is text for people, never parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from campaigns.evaluator.contract import Job, MachineCode, Outcome, Phase, Report, Sanitized
from campaigns.evaluator.contract.errors import one_line, printable
from campaigns.evaluator.contract.files import load_machine_code, load_profile, load_sanitized
from campaigns.evaluator.contract.job import CANDIDATE, INCUMBENT
from campaigns.evaluator.contract.origins import with_origins
from campaigns.evaluator.contract.programs import headline
from campaigns.evaluator.reference.messages import NAME as REFERENCE
from campaigns.evaluator.sandbox.layers import Layer, describe
from campaigns.evaluator.sandbox.processes import describe_status
from campaigns.evaluator.sandbox.warden import Record
from campaigns.evaluator.service.crew import Crew

# How many refused calls the reason of a crash names; the report has them all.
HINTED = 3
SEE_LOG = "see the log"
# An error that may come of a refused call says so; any other has its reason in its own words.
DENIED = re.compile(r"errno|denied|permitted|no such file", re.IGNORECASE)


def with_evidence(report: Report, job: Job, crew: Crew, ended: tuple[str, int | None]) -> Report:
    """Add logs and records, and to a bare reason what only they or the exit status can tell.

    ended: the arm that the report is of, and how its process ended.
    """
    arm, status = ended
    if report.outcome is Outcome.PASSED and (job.sanitize or job.counters or job.read_code):
        try:
            found = _left_by_tools(report, job, crew.build_log(CANDIDATE))
        except ValueError as error:
            # A candidate had a hand in what its tools told, and nothing rests on that.
            found = replace(report, reason=one_line(f"what was told cannot be read: {error}"))
        return replace(found, environment=_placed(report, crew, arm))
    # It was compiled under a name of ours; people know it by theirs.
    source = job.contenders[arm]
    build_log = with_origins(crew.build_log(arm), source.text, one_line(source.name))
    build_log = printable(build_log)
    record = crew.record(arm)
    log = printable(record.log)
    reason = report.reason
    if report.outcome is Outcome.BUILD_FAILED:
        reason = headline(log if report.phase is Phase.LOAD else build_log)
    elif died_early := _died_early(report, crew, arm):
        log = printable(died_early.log)
        return replace(
            report,
            outcome=Outcome.BROKEN_HOST,
            reason=f"the sandbox could not lock the runner down: {headline(log)}",
            problem_fault=False,
            runner_log=log,
        )
    elif report.outcome is Outcome.CRASHED:
        died = "died" in reason
        why = f"{describe_status(status)}{_thrown(log)}" if died else headline(log)
        hint = _hint(record) if died or DENIED.search(why) else ""
        reason = f"{reason}: {why}{', ' if record.memory else ''}{record.memory}{hint}"
    elif report.outcome is Outcome.NOT_JUDGED and log.strip():
        reason = f"{reason}: {headline(log)}"
    elif report.outcome is Outcome.BROKEN_HOST:
        other = REFERENCE if report.problem_fault else INCUMBENT
        if other in (REFERENCE, *job.arms):
            report, log = _of_another(report, crew.record(other), log)
            reason = report.reason
    return replace(
        report,
        reason=reason,
        build_log=build_log,
        runner_log=log,
        environment=_placed(report, crew, arm),
    )


def _left_by_tools(report: Report, job: Job, log: str) -> Report:
    """What a runner left that judged nothing. Raises ValueError."""
    if job.sanitize:
        return replace(report, sanitized=tuple(map(_readable, load_sanitized(log))))
    if job.read_code:
        return replace(report, machine_code=_plain(load_machine_code(log)))
    counted = load_profile(log)
    # A runner does not know the name of a case.
    plain = replace(
        counted,
        case=job.cases[0].name,
        text=printable(counted.text),
        lines=printable(counted.lines),
        note=one_line(counted.note),
    )
    return replace(report, profile=plain)


def _of_another(report: Report, record: Record, log: str) -> tuple[Report, str]:
    """The report and the log where another process than the candidate's failed."""
    log += printable(record.log)
    reason = report.reason.replace(SEE_LOG, _last_words(record, log))
    if report.problem_fault and record.memory:
        # A smaller case, or a larger host, needs no other ref.py.
        reason = f"{reason}: the case is too large for this host"
        report = replace(report, outcome=Outcome.NOT_JUDGED, problem_fault=False)
    return replace(report, reason=reason), log


def _died_early(report: Report, crew: Crew, arm: str) -> Record | None:
    """What is known of a process that died before any foreign code was there to be blamed."""
    crashed = report.outcome is Outcome.CRASHED
    if not crashed and not (report.problem_fault and SEE_LOG in report.reason):
        return None
    record = crew.record(arm if crashed else REFERENCE)
    return None if record.locked else record


def _last_words(record: Record, log: str) -> str:
    """What is known of a process that ended where it should not have."""
    ended = describe_status(record.status) if record.status else ""
    return ", ".join(filter(None, (ended, record.memory, headline(log))))


def _readable(said: Sanitized) -> Sanitized:
    """With what a process that held the candidate may have written as text for people."""
    faults = [
        replace(
            fault, kind=one_line(fault.kind), what=one_line(fault.what), file=one_line(fault.file)
        )
        for fault in said.faults
    ]
    return replace(said, faults=tuple(faults), note=one_line(said.note))


def _plain(code: MachineCode) -> MachineCode:
    """The same for names, which a compiler takes from the candidate."""
    functions = tuple(
        replace(
            one,
            name=one_line(one.name),
            calls={one_line(n): times for n, times in one.calls.items()},
            listing=printable(one.listing),
        )
        for one in code.functions
    )
    return replace(code, functions=functions, note=one_line(code.note))


def _placed(report: Report, crew: Crew, arm: str) -> dict[str, str]:
    found = _sandbox(crew.record(arm))
    if tried := crew.record(REFERENCE).refused:
        found["refused to ref.py"] = _counted(tried)
    return {**report.environment, **found, "session": crew.session}


def _hint(record: Record) -> str:
    """A possible cause of a crash: code that takes a refused call's answer for memory or a file."""
    named = ", ".join(one_line(what) for what in sorted(record.refused)[:HINTED])
    return f" (the sandbox had refused it: {named})" if named else ""


def _thrown(log: str) -> str:
    """What the C++ library says of an exception that was not caught."""
    said = [line for line in map(str.strip, log.splitlines()) if line.startswith("what():")]
    return f", {one_line(said[-1])}" if said else ""


def _sandbox(record: Record) -> dict[str, str]:
    """Which layers held, as the runner said before it loaded anything, and what was refused."""
    found = {}
    if record.holds:
        found["sandbox"] = describe({Layer(name): said for name, said in record.holds.items()})
    if record.refused:
        found["refused"] = _counted(record.refused)
    return found


def _counted(refused: Mapping[str, int]) -> str:
    return ", ".join(f"{what} ×{n}" for what, n in sorted(refused.items()))
