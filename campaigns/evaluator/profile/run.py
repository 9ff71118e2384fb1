"""Run one candidate under its device's profiler on the inputs of one case.

Called in a runner that is locked and has loaded nothing. Whatever goes wrong, there is an answer
with a note: no profile is a visible state, never a guess.
"""

from __future__ import annotations

from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.contract import Profile
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported, printable
from campaigns.evaluator.contract.programs import headline
from campaigns.evaluator.profile import ncu, perf
from campaigns.evaluator.profile.profiler import Profiler
from campaigns.evaluator.sandbox.lock import NotLocked
from campaigns.evaluator.sandbox.workplace import Workplace
from campaigns.evaluator.sanitizers.run import Subject, read_log, write_subject

PROFILERS = (ncu.PROFILER, perf.PROFILER)
MOST_S = 60.0
TEXT_CHARACTERS = 96 * 1024


def count(subject: Subject, memory: Memory) -> Profile:
    """What a profiler counts of the candidate's own work; the inputs are those in slot 0.

    Which case they are of is not known here.
    """
    job, place = subject.job, subject.place
    of_kind = [one for one in PROFILERS if one.device == job.device.partition(":")[0]]
    profiler = next((one for one in of_kind if job.backend in one.calls), None)
    if profiler is None:
        tool = of_kind[0].tool if of_kind else ""
        return Profile(tool, "", note=f"no profiler counts {job.backend} on {job.device}")
    if why := place.no_watching or profiler.missing(subject):
        return Profile(profiler.tool, "", note=why)
    try:
        write_subject(subject, memory)
        return _counted(subject, profiler)
    except (BuildFailed, Unsupported, NotLocked, OSError) as error:
        return Profile(profiler.tool, "", note=f"it could not be run: {headline(str(error))}")


def _counted(subject: Subject, profiler: Profiler) -> Profile:
    place, tool = subject.place, profiler.tool
    command, options = profiler.command(subject), profiler.environment
    ended = place.run_watched(command, options, MOST_S, opens_events=profiler.opens_events)
    text = _read(place, profiler.log)
    if why := profiler.refusal(f"{text}\n{ended.log}"):
        return Profile(tool, "", note=why)
    if profiler.then and text.strip() and not ended.status:
        ended = place.run_watched(profiler.then(subject), options, MOST_S)
        text = _read(place, profiler.log)
    if ended.status or not text.strip():
        said = headline(f"{text}\n{ended.log}")
        return Profile(tool, "", note=f"{ended.words}: {said}")
    lines = _read(place, profiler.lines) if profiler.lines else ""
    # Of samples, which are many, the last row is whole; a table that is cut off says so.
    lines = lines[: lines.rfind("\n") + 1]
    return Profile(tool, "", text, profiler.calls[subject.job.backend], lines=lines)


def _read(place: Workplace, name: str) -> str:
    """What the profiler wrote. Printable, so that it is no longer where it is handed on."""
    return printable(read_log(place, name, exact=True))[:TEXT_CHARACTERS]
