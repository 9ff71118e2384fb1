"""The whole order of an evaluation: right in every call, then fast by a clock of ours (law 3).

Each step raises as soon as it knows enough: CandidateError where the candidate is at fault,
HostError where anything else is. So nothing is timed of a candidate that was wrong once.
"""

from __future__ import annotations

from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.judge.session import MeasuringSession

CORRECT = "correct on every case"
# For a backend on a device that it is not timed on.
INTERPRETED = (
    "judged in an interpreter, which is slow and is not timed; "
    'mark small cases for it with on = ["interpreter"]'
)


def judge(task: JudgeTask) -> JudgeDone:
    """Judge a candidate and its rivals, beside the incumbent where there is one."""
    job, progress = task.job, task.progress
    session = MeasuringSession(task)
    session.attach()
    session.build()
    if job.timed:
        session.measure_overheads()
    session.load()

    # Correctness. A first wrong answer of a candidate ends its part of the evaluation.
    if not session.can_be_timed:
        progress.notes.append(INTERPRETED)
    session.check()
    if not job.timed:
        return JudgeDone(CORRECT)
    if not session.can_be_timed:
        session.rehearse()
        return JudgeDone(CORRECT)

    # Timing: incumbent and candidates in turn, A B B A, until a look decides.
    timers = session.settle()
    faster = session.compare(timers)
    if faster:
        # Integrity: whether what was sampled can be believed, probed for calls that do each other's
        # work and for work that is left to the next call.
        session.close(timers)

    # Evidence for the verdict: what explains the times.
    timings = session.explain(timers, faster)
    session.stop()
    return JudgeDone(CORRECT, timings)
