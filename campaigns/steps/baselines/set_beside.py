"""Make the job of an evaluation one that measures torch beside the evaluation's candidate."""

from __future__ import annotations

from dataclasses import replace

from campaigns.evaluator.contract import Job
from campaigns.models import Evaluation
from campaigns.records.baselines import source_of

# torch.compile builds at the first call of each shape, and max-autotune tries many kernels.
LOAD_S, CALL_S, TOTAL_S = 240.0, 60.0, 600.0


def set_beside(job: Job, evaluation: Evaluation) -> Job:
    """The same job with torch as its candidate, and what was its candidate as the incumbent.

    Which arm is which decides whose failure it is: here torch's, and never the campaign's. The
    rules of measuring are the campaign's own; only the limits leave time to compile.
    """
    limits = replace(job.protocol.limits, load_s=LOAD_S, call_s=CALL_S, total_s=TOTAL_S)
    return replace(
        job,
        backend="torch",
        candidate=source_of(evaluation),
        incumbent=job.candidate,
        incumbent_backend=job.backend,
        protocol=replace(job.protocol, limits=limits),
    )
