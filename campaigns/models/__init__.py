"""The records of what we do, one noun a file."""

from campaigns.models.campaign import AbortReason, Campaign, Protocol
from campaigns.models.candidate import Candidate
from campaigns.models.commit import Commit
from campaigns.models.device_wait import Cause, DeviceWait
from campaigns.models.evaluation import Evaluation, EvaluationKind, Repair
from campaigns.models.event import Event
from campaigns.models.evidence import Evidence
from campaigns.models.imported import ImportedCampaign, ImportedFile, ImportedRound
from campaigns.models.passport import Passport, PassportWish, Void
from campaigns.models.phase import Phase
from campaigns.models.pitfall import Pitfall, PitfallKind
from campaigns.models.placeholder import Placeholder
from campaigns.models.problem import Case, Problem
from campaigns.models.round import Round, RoundKind
from campaigns.models.stagnation import Restart, RestartAnswer, Review, Unmasking
from campaigns.models.standing import Answer, Standing, StandingAnswer, StandingWord
from campaigns.models.submissions.submission import Submission, Submitter
from campaigns.models.sweep import Sweep, SweepOrder, SweepPoint
from campaigns.models.transitions import (
    CampaignState,
    EvaluationState,
    IllegalTransition,
    RepositoryState,
    RoundState,
)
from campaigns.models.verdict import Verdict
from campaigns.models.worker import Worker

__all__ = [
    "AbortReason",
    "Answer",
    "Campaign",
    "CampaignState",
    "Candidate",
    "Case",
    "Cause",
    "Commit",
    "DeviceWait",
    "Evaluation",
    "EvaluationKind",
    "EvaluationState",
    "Event",
    "Evidence",
    "IllegalTransition",
    "ImportedCampaign",
    "ImportedFile",
    "ImportedRound",
    "Passport",
    "PassportWish",
    "Phase",
    "Pitfall",
    "PitfallKind",
    "Placeholder",
    "Problem",
    "Protocol",
    "Repair",
    "RepositoryState",
    "Restart",
    "RestartAnswer",
    "Review",
    "Round",
    "RoundKind",
    "RoundState",
    "Standing",
    "StandingAnswer",
    "StandingWord",
    "Submission",
    "Submitter",
    "Sweep",
    "SweepOrder",
    "SweepPoint",
    "Unmasking",
    "Verdict",
    "Void",
    "Worker",
]
