"""Try the next change of a repository on this worker's device, and keep it or not."""

from __future__ import annotations

import logging
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from campaigns.devices.hold import hold
from campaigns.devices.idle import is_gated
from campaigns.devices.processes import ClaimLost, tempdir
from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract.backends import BACKEND_OF
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.lineage.git import LineageError
from campaigns.models import EvaluationState, RepositoryState
from campaigns.models.transitions import claim, move
from campaigns.problems.shipped import UnknownProblem
from campaigns.repositories.harness import HostBroken
from campaigns.repositories.measure import ChangeTrial, Failed, MeasuredChange, keep_built
from campaigns.repositories.models import Repository, RepositoryRound, noise_at, stored
from campaigns.repositories.own_repository import OwnRepository, PatchRefused
from campaigns.repositories.rounds import stop_if_spent
from campaigns.rules.harness.decide import (
    OWN_HARNESS,
    HarnessDecision,
    Proven,
    decide,
    noise_of,
    with_proof,
)
from campaigns.rules.harness.description import Proof
from campaigns.rules.noise.device_gate import DeviceState
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.finding_kinds import LENIENT, Examined
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.wording import share
from campaigns.steps.lifecycle.create_campaign import protocol_for
from campaigns.steps.measuring.claims import ClaimHeartbeat, begin, renew_connection
from campaigns.steps.problems import floors_here, public_problem
from campaigns.steps.worker import WorkerContext
from campaigns.syntax.findings.find import findings_of

log = logging.getLogger(__name__)

LOG_CHARACTERS = 20_000
# As many characters as the column of the phase has.
LONGEST_PHASE = 100
PROVING = "proving the kernel"


def try_change(key: int, context: WorkerContext) -> Repository | None:
    """Try the round of that key; return its repository, whose next round may then be tried.

    None where there is nothing to claim now. Raises DeviceBusy before anything is claimed.
    """
    rows = RepositoryRound.objects.select_related("repository")
    row = rows.filter(pk=key, state=EvaluationState.QUEUED).first()
    if row is None or row.repository.platform_id != context.worker.platform_id:
        return None
    with hold(context.device, wait_s=context.patience_s):
        if is_gated(context.device):
            # The evaluator's service is rested first, so that it is not seen on the device (R8).
            context.service.rest()
            found = context.look(context.device)
            if found.gate is DeviceState.BUSY:
                queued = RepositoryRound.objects.filter(pk=key, state=EvaluationState.QUEUED)
                claim(queued, phase=f"the device is busy: {found.why}"[:LONGEST_PHASE])
                return None
        if not _claim(row, context):
            return None
        try:
            with tempdir("harness") as folder:
                _closed(row, *_tried(row, context, folder))
        except ClaimLost:
            log.warning("%s: taken over by another worker; result dropped", row)
            return None
    return row.repository


def _claim(row: RepositoryRound, context: WorkerContext) -> bool:
    """Claim the round, unless an earlier one of its repository is not done."""
    repository, worker = row.repository, context.worker
    with transaction.atomic():
        list(Repository.objects.select_for_update().filter(pk=repository.pk))
        earlier = repository.rounds.filter(number__lt=row.number)
        if earlier.exclude(state=EvaluationState.DONE).exists():
            return False
        repository.refresh_from_db()
        return begin(row, worker.name, "starting", worker=worker, against=repository.head)


def _tried(
    row: RepositoryRound, context: WorkerContext, folder: Path
) -> tuple[HarnessDecision, str, MeasuredChange | None, str]:
    """The decision, a log, what was measured, and the hash of the candidate's tree."""
    repository, harness = row.repository, row.repository.described
    own, tree = OwnRepository(repository.pk), row.against
    try:
        if not row.is_baseline:
            tree = own.patched(row.against, row.patch)
        beat = ClaimHeartbeat(row)
        trial = ChangeTrial(own, harness, row.against, tree, folder, context.device, beat)
        measured = trial.run()
    except PatchRefused as error:
        return HarnessDecision(Reason.BUILD_FAILED, str(error)), "", None, tree
    except Failed as failed:
        return HarnessDecision(failed.reason, failed.sentence), failed.log, None, tree
    except (HostBroken, LineageError) as error:
        first, _, rest = str(error).partition("\n")
        return HarnessDecision(Reason.BROKEN_HOST, first), rest, None, tree
    except OSError as error:
        said = f"{error.filename or folder}: {error.strerror}"
        return HarnessDecision(Reason.BROKEN_HOST, said), "", None, tree
    decision, proof = _decided(row, measured), harness.proof
    kept = decision.verdict is VerdictWord.ACCEPTED and not row.is_baseline
    if kept and proof is not None and proof.file in own.changed(row.against, tree):
        decision = with_proof(decision, prove_change(proof, trial, context))
    return decision, measured.log, measured, tree


def _decided(row: RepositoryRound, measured: MeasuredChange) -> HarnessDecision:
    if row.is_baseline:
        noise = noise_of(measured.result)
        said = (
            f"measured against itself, {OWN_HARNESS}: a change of the score shows from "
            f"{share(noise.score)} on"
        )
        return HarnessDecision(Reason.BASELINE, said, measured.result)
    noise = noise_at(row.repository)
    classes = [one.name for one in measured.result.classes]
    if row.target and row.target not in classes:
        known = ", ".join(classes)
        said = f"target: no class {row.target!r}; there are: {known:.500}"
        return HarnessDecision(Reason.WRONG_RESULT, said, measured.result)
    return decide(measured.result, noise, row.target)


def _closed(row: RepositoryRound, *tried: Any) -> None:
    """Record the round, over another connection where this one has died. Raises ClaimLost."""
    renew_connection()
    try:
        _close(row, *tried)
    except (OperationalError, InterfaceError):
        if not renew_connection():
            raise
        # The commit is the same one again, and a round that was closed after all is not held.
        row.state = EvaluationState.RUNNING
        _close(row, *tried)


def _close(
    row: RepositoryRound,
    decision: HarnessDecision,
    said: str,
    measured: MeasuredChange | None,
    tree: str,
) -> None:
    """Record the round; a change that is kept becomes a commit and the new incumbent."""
    repository, own = row.repository, OwnRepository(row.repository.pk)
    kept = decision.verdict is VerdictWord.ACCEPTED
    commit = ""
    if kept and not row.is_baseline:
        at_s = int(row.created_at.timestamp())
        message = _message(row, decision)
        commit = own.commit(tree, row.against, repository.branch, message, at_s)
    with transaction.atomic():
        closed = move(
            row,
            EvaluationState.DONE,
            holder__is=row.holder,
            reason=decision.reason.value,
            sentence=decision.sentence,
            result=stored(decision.result) if decision.result else {},
            proven=stored(decision.proven) if decision.proven else {},
            log=said[-LOG_CHARACTERS:].replace("\0", "�"),
            commit=commit,
            finished_at=timezone.now(),
        )
        if not closed:
            raise ClaimLost
        still_open = Repository.objects.filter(pk=repository.pk, state=RepositoryState.OPEN)
        if commit:
            claim(still_open, head=commit)
        if row.is_baseline and decision.result is not None:
            claim(still_open, noise=stored(noise_of(decision.result)))
        repository.refresh_from_db()
        stop_if_spent(repository)
    if kept and measured is not None:
        keep_built(repository.pk, commit or row.against, measured.built)


def _message(row: RepositoryRound, decision: HarnessDecision) -> str:
    """What the commit says: the idea, its effect and who measured it."""
    result, asked = decision.result, decision.proven
    table = [f"  {one.name}: {one.gain.brief}" for one in (result.classes if result else ())]
    proven = f"kopt's judge, as a kernel of {asked.problem}: {asked.sentence}" if asked else ""
    parts = [
        row.title,
        row.change,
        row.rationale,
        f"Measured: {decision.sentence}",
        proven,
        "\n".join(table),
        f"kopt: repository {row.repository_id}, round {row.number}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# The repository's harness runs in the candidate's process; the judge does not. So what it finds is
# told apart: a proven gain, or why the harness's gain is not one.
def prove_change(asked: Proof, trial: ChangeTrial, context: WorkerContext) -> Proven:
    """Compare the candidate's file with the incumbent's, as kernels of the problem, in one session.

    Raises LineageError, and what the trial's heartbeat raises.
    """
    device, path = context.device, PurePosixPath(asked.file)
    candidate, incumbent = (_source(asked, trial, tree) for tree in (trial.after, trial.before))
    try:
        spec, backend = public_problem(asked.problem), BACKEND_OF[path.suffix]
        job = Job(
            job_id="repository-round",
            problem=spec.folder,
            backend=backend,
            device=device.device,
            target=device.target,
            cases=tuple(case.case for case in spec.cases_of(backend, device.kind)),
            candidate=candidate,
            incumbent=incumbent,
            scratch=trial.folder / "proof",
            protocol=protocol_for(device.kind),
        )
        report = context.service.evaluate(job, lambda phase: trial.beat(PROVING))
        examined = Examined(candidate.name, findings_of(candidate), LENIENT)
        floors, lesser = floors_here(device.name, spec, job.cases)
    except (UnknownProblem, ProblemError) as error:
        return Proven(asked.problem, Reason.BROKEN_HOST, str(error))
    standard = Standard(has_incumbent=True, examined=examined, floors=floors, lesser_floors=lesser)
    decision = decide_session(report, standard)
    return Proven(asked.problem, decision.reason, decision.sentence, decision.gain)


def _source(asked: Proof, trial: ChangeTrial, tree: str) -> Source:
    """The file as a tree has it; one that a change has removed is empty."""
    kept = trial.repository.files(tree).get(asked.file)
    data = trial.repository.blob(kept.blob) if kept else b""
    return Source(PurePosixPath(asked.file).name, data.decode("utf-8", "replace"))
