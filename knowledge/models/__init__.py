"""What we know, one noun a file."""

from knowledge.models.batch import Batch, BatchState
from knowledge.models.change import Action, SpecChange
from knowledge.models.document import Document, Revision
from knowledge.models.flag import DRIFT, Flag, FlagAnswer, FlagKind
from knowledge.models.guarded import Immutable
from knowledge.models.platform import Platform
from knowledge.models.spec import Citation, Spec, SpecState
from knowledge.models.waiver import Waiver

__all__ = [
    "DRIFT",
    "Action",
    "Batch",
    "BatchState",
    "Citation",
    "Document",
    "Flag",
    "FlagAnswer",
    "FlagKind",
    "Immutable",
    "Platform",
    "Revision",
    "Spec",
    "SpecChange",
    "SpecState",
    "Waiver",
]
