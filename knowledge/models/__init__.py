"""What we know, one noun a file."""

from knowledge.models.document import Document, Revision
from knowledge.models.guarded import Immutable
from knowledge.models.platform import Platform
from knowledge.models.spec import Citation, Spec, SpecState

__all__ = ["Citation", "Document", "Immutable", "Platform", "Revision", "Spec", "SpecState"]
