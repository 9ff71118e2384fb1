"""The kinds of jobs, what a judge's process does for each, and what stands beside the judge.

A job that is no judging has a module of its own with a function `run`. It is loaded in the process
of such a job alone, so that a process which judges holds nothing but the judge.
"""

from __future__ import annotations

import contextlib
import importlib

from campaigns.evaluator.contract import Job, backends
from campaigns.evaluator.contract.intervals import may_end
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.progress import Aids, Work
from campaigns.evaluator.service.notices import forecast

EXPLAIN = "campaigns.evaluator.screen.explain"
BESIDE = {
    "stream": "campaigns.evaluator.screen.serve",
    "sanitize": EXPLAIN,
    "counters": EXPLAIN,
    "read_code": EXPLAIN,
}


def work_beside(job: Job) -> Work | None:
    """What is done for a job in place of judging its candidate; None where it is judged."""
    for kind, module in BESIDE.items():
        if getattr(job, kind):
            work: Work = importlib.import_module(module).run
            return work
    return None


def warm_up_judge(device: str) -> None:
    """Have what every judge on a GPU launches compiled before its job is known.

    What fails does so again where its words are read.
    """
    with contextlib.suppress(Exception):
        import torch

        from campaigns.evaluator.builds.judge_loops import TritonPasses
        from campaigns.evaluator.judge.correctness.one_pass import agrees

        agrees(TritonPasses(), torch.float32, torch.device(device))


def aids_of_judge() -> Aids:
    """What a judge is given, in its own process: the service imports it all before it forks."""
    # Imported here: whoever starts the service loads torch later.
    from campaigns.evaluator.builds.judge_loops import faster_passes
    from campaigns.evaluator.service.explain import explained
    from campaigns.evaluator.service.host_watch import HostWatch, memory_of

    return Aids(
        read_problem=load_problem,
        backend=backends.get,
        watch=HostWatch,
        memory=memory_of,
        explain=explained,
        forecast=forecast,
        may_end=may_end,
        faster=faster_passes,
    )
