"""Have kopt's own judge look at a kernel that a change of a repository touches (law 2).

The repository's harness runs in the candidate's process; the judge does not. So what it finds is
told apart: a proven gain, or why the harness's gain is not one.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from campaigns.evaluator.backends.base import BACKEND_OF
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.problem import ProblemError, load_problem
from campaigns.problems.shipped import UnknownProblem
from campaigns.records.target.floors import floors_here
from campaigns.rules.harness.decide import Proven
from campaigns.rules.harness.description import Proof
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.finding_kinds import Examined, FindingKind, Stance
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps.lifecycle.create_campaign import CPU_PROTOCOL, GPU_PROTOCOL
from campaigns.steps.problems.find_problem import find_problem
from campaigns.steps.repositories.measure_change import ChangeTrial
from campaigns.syntax.findings.find import findings_of
from campaigns.workers.context import WorkerContext

PROVING = "proving the kernel"


def prove_change(asked: Proof, trial: ChangeTrial, context: WorkerContext) -> Proven:
    """Compare the candidate's file with the incumbent's, as kernels of the problem, in one session.

    Raises LineageError, and what the trial's heartbeat raises.
    """
    try:
        job = _job(asked, trial, context)
        report = context.service.evaluate(job, lambda phase: trial.beat(PROVING))
        examined = Examined(
            job.candidate.name,
            findings_of(job.candidate),
            dict.fromkeys(FindingKind, Stance.FLAGGED),
        )
        spec = load_problem(job.problem)
        floors, lesser = floors_here(context.device.name, spec, job.cases)
    except (UnknownProblem, ProblemError) as error:
        return Proven(asked.problem, Reason.BROKEN_HOST, str(error))
    standard = Standard(has_incumbent=True, examined=examined, floors=floors, lesser_floors=lesser)
    decision = decide_session(report, standard)
    return Proven(asked.problem, decision.reason, decision.sentence, decision.gain)


def _job(asked: Proof, trial: ChangeTrial, context: WorkerContext) -> Job:
    """Raises UnknownProblem, ProblemError, LineageError."""
    spec = load_problem(find_problem(asked.problem))
    device, backend = context.device, BACKEND_OF[PurePosixPath(asked.file).suffix]
    return Job(
        job_id="repository-round",
        problem=spec.folder,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=tuple(case.case for case in spec.cases_of(backend, device.kind)),
        candidate=_source(asked, trial, trial.after),
        incumbent=_source(asked, trial, trial.before),
        scratch=trial.folder / "proof",
        protocol=CPU_PROTOCOL if device.kind == "cpu" else GPU_PROTOCOL,
    )


def _source(asked: Proof, trial: ChangeTrial, tree: str) -> Source:
    """The file as a tree has it; one that a change has removed is empty."""
    kept = trial.repository.files(tree).get(asked.file)
    data = trial.repository.blob(kept.blob) if kept else b""
    return Source(PurePosixPath(asked.file).name, data.decode("utf-8", "replace"))
