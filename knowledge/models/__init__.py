"""What we know, one noun a file."""

from knowledge.models.document import Document, Revision
from knowledge.models.frozen import Frozen
from knowledge.models.platform import Platform
from knowledge.models.spec import Citation, Spec, SpecState

__all__ = ["Citation", "Document", "Frozen", "Platform", "Revision", "Spec", "SpecState"]
