"""What we know, one noun a file."""

from knowledge.models.batch import Batch, BatchKind, BatchState
from knowledge.models.change import Action, SpecChange, Waiver
from knowledge.models.comment import (
    Comment,
    MailAddress,
    NoticeKind,
    Notification,
    SubjectKind,
)
from knowledge.models.document import Document, Revision
from knowledge.models.experience import (
    Adoption,
    EntryStanding,
    Experience,
    ExperienceAction,
    ExperienceChange,
    ExperienceOrigin,
    Strategy,
    StrategyKind,
    TrackRecord,
)
from knowledge.models.guarded import Immutable
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
from knowledge.models.project import Project, ProjectChange, ProjectWork, WorkKind, project_of
from knowledge.models.saved_view import SavedView
from knowledge.models.search import Kind, SearchRow, SearchWord
from knowledge.models.spec import (
    DRIFT,
    Citation,
    Flag,
    FlagAnswer,
    FlagKind,
    Platform,
    Spec,
    SpecState,
)
from knowledge.models.token import KeptAnswer, LoginAttempt, Scope, Token

__all__ = [
    "DRIFT",
    "IN_USE",
    "Action",
    "Adoption",
    "Batch",
    "BatchKind",
    "BatchState",
    "Citation",
    "Comment",
    "ConflictState",
    "Disagreement",
    "Document",
    "EntryStanding",
    "Experience",
    "ExperienceAction",
    "ExperienceChange",
    "ExperienceOrigin",
    "Flag",
    "FlagAnswer",
    "FlagKind",
    "Gap",
    "GapState",
    "Immutable",
    "KeptAnswer",
    "Kind",
    "Lesson",
    "LessonChange",
    "LessonEvidence",
    "LessonSource",
    "LessonState",
    "LoginAttempt",
    "MailAddress",
    "NoticeKind",
    "Notification",
    "Platform",
    "Project",
    "ProjectChange",
    "ProjectWork",
    "Revision",
    "SavedView",
    "Scope",
    "SearchRow",
    "SearchWord",
    "Spec",
    "SpecChange",
    "SpecState",
    "Strategy",
    "StrategyKind",
    "SubjectKind",
    "Token",
    "TrackRecord",
    "Waiver",
    "WorkKind",
    "project_of",
]
