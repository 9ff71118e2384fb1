"""What we know, one noun a file."""

from knowledge.models.batch import Batch, BatchState
from knowledge.models.change import Action, SpecChange
from knowledge.models.document import Document, Revision
from knowledge.models.experience import (
    Adoption,
    EntryStanding,
    Experience,
    ExperienceAction,
    ExperienceChange,
    ExperienceImport,
    ExperienceOrigin,
    ImportState,
    TrackRecord,
)
from knowledge.models.flag import DRIFT, Flag, FlagAnswer, FlagKind
from knowledge.models.guarded import Immutable
from knowledge.models.kept_answer import KeptAnswer
from knowledge.models.lesson import (
    IN_USE,
    ConflictState,
    Disagreement,
    Gap,
    GapState,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonSource,
    LessonState,
)
from knowledge.models.login_attempt import LoginAttempt
from knowledge.models.platform import Platform
from knowledge.models.search import Kind, SearchRow, SearchWord
from knowledge.models.spec import Citation, Spec, SpecState
from knowledge.models.strategy import Strategy, StrategyKind
from knowledge.models.token import Scope, Token
from knowledge.models.waiver import Waiver

__all__ = [
    "DRIFT",
    "IN_USE",
    "Action",
    "Adoption",
    "Batch",
    "BatchState",
    "Citation",
    "ConflictState",
    "Disagreement",
    "Document",
    "EntryStanding",
    "Experience",
    "ExperienceAction",
    "ExperienceChange",
    "ExperienceImport",
    "ExperienceOrigin",
    "Flag",
    "FlagAnswer",
    "FlagKind",
    "Gap",
    "GapState",
    "Immutable",
    "ImportState",
    "KeptAnswer",
    "Kind",
    "Lesson",
    "LessonChange",
    "LessonEvidence",
    "LessonSource",
    "LessonState",
    "LoginAttempt",
    "Platform",
    "Revision",
    "Scope",
    "SearchRow",
    "SearchWord",
    "Spec",
    "SpecChange",
    "SpecState",
    "Strategy",
    "StrategyKind",
    "Token",
    "TrackRecord",
    "Waiver",
]
