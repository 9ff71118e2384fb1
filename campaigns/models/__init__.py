"""The records of what we do, one noun a file."""

from campaigns.models.campaign import (
    AbortReason,
    ArchivedCampaign,
    Campaign,
    Phase,
    PitfallKind,
    Protocol,
)
from campaigns.models.decision import DecisionWord, ReviewDecision
from campaigns.models.evaluation import Evaluation, Evidence, Repair
from campaigns.models.event import Event, Placeholder, Restart, RestartAnswer, Review, Unmasking
from campaigns.models.imported import ImportedCampaign, ImportedRound
from campaigns.models.kinds import EvaluationKind, RoundKind
from campaigns.models.passport import Passport
from campaigns.models.problem import Case, Problem
from campaigns.models.round import Candidate, Round, Submission, Submitter
from campaigns.models.series import SeriesAnswer, SeriesAnswerWord, SeriesEntry, SeriesWish
from campaigns.models.sweep import Sweep, SweepPoint
from campaigns.models.transitions import (
    CampaignState,
    EvaluationState,
    IllegalTransition,
    RepositoryState,
    RoundState,
)
from campaigns.models.verdict import Answer, Commit, Standing, StandingAnswer, StandingWord, Verdict
from campaigns.models.webhook import HookKind, Webhook
from campaigns.models.worker import Cause, DeviceWait, Worker

__all__ = [
    "AbortReason",
    "Answer",
    "ArchivedCampaign",
    "Campaign",
    "CampaignState",
    "Candidate",
    "Case",
    "Cause",
    "Commit",
    "DecisionWord",
    "DeviceWait",
    "Evaluation",
    "EvaluationKind",
    "EvaluationState",
    "Event",
    "Evidence",
    "HookKind",
    "IllegalTransition",
    "ImportedCampaign",
    "ImportedRound",
    "Passport",
    "Phase",
    "PitfallKind",
    "Placeholder",
    "Problem",
    "Protocol",
    "Repair",
    "RepositoryState",
    "Restart",
    "RestartAnswer",
    "Review",
    "ReviewDecision",
    "Round",
    "RoundKind",
    "RoundState",
    "SeriesAnswer",
    "SeriesAnswerWord",
    "SeriesEntry",
    "SeriesWish",
    "Standing",
    "StandingAnswer",
    "StandingWord",
    "Submission",
    "Submitter",
    "Sweep",
    "SweepPoint",
    "Unmasking",
    "Verdict",
    "Webhook",
    "Worker",
]
