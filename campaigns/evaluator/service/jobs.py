"""The kinds of jobs, and what a judge's process does for each.

A job that is no judging has a module of its own with a function `run`. It is loaded in the process
of such a job alone, so that a process which judges holds nothing but the judge.
"""

from __future__ import annotations

import importlib

from campaigns.evaluator.contract import Job
from campaigns.evaluator.judge.progress import Work

BESIDE = {
    "stream": "campaigns.evaluator.screen.serve",
    "sanitize": "campaigns.evaluator.sanitizers.ask",
    "read_code": "campaigns.evaluator.machine_code.ask",
}


def work_beside(job: Job) -> Work | None:
    """What is done for a job in place of judging its candidate; None where it is judged."""
    for kind, module in BESIDE.items():
        if getattr(job, kind):
            work: Work = importlib.import_module(module).run
            return work
    return None
