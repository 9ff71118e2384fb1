"""Document and Revision: a wiki page, and each text that it ever had."""

from __future__ import annotations

import hashlib

from django.db import models
from django.urls import reverse

from knowledge.models.batch import Batch
from knowledge.models.guarded import ALWAYS, Guarded, person
from knowledge.specs.citation import quoted

SHIPPED_ORIGIN = "shipped"
MEASURED_ORIGIN = "measured"
OWN_ORIGINS = (SHIPPED_ORIGIN, MEASURED_ORIGIN)
SHORT = 12  # hex digits of a hash that pages and links show


def text_hash(text: str) -> str:
    """The SHA-256 of the UTF-8 bytes, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class Document(models.Model):
    """One Markdown page, named by its path in the wiki (`docs/hardware/h200-sxm.md`).

    origin: where it is imported from again: "shipped", "measured", or the name of a folder. A later
    import of that origin that lacks the document sets `withdrawn_at`; its revisions stay.
    """

    path = models.CharField(max_length=200, unique=True)
    title = models.CharField(max_length=200)
    origin = models.CharField(max_length=80, default="shipped")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["path"]

    def __str__(self) -> str:
        return self.path

    def get_absolute_url(self) -> str:
        return reverse("knowledge:document", args=[self.path])

    @property
    def latest(self) -> Revision:
        """The newest revision; a document is never stored without one."""
        return self.revisions.latest("number")


class Revision(Guarded):
    """One text of a document. Never changed, never deleted; lines count from 1.

    author: who stored it; null for a command of this installation. batch: the import it came by.
    """

    SEALED = ALWAYS

    document = models.ForeignKey(Document, models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    author = person()
    batch = models.ForeignKey(
        Batch, models.PROTECT, null=True, blank=True, related_name="revisions"
    )

    class Meta:
        base_manager_name = "objects"
        ordering = ["document", "number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="revision_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document.path}@{self.short}"

    @property
    def short(self) -> str:
        """The first digits of the hash, as links carry them."""
        return self.sha256[:SHORT]

    @property
    def intact(self) -> bool:
        """Whether the text still has the hash it was stored under."""
        return text_hash(self.text) == self.sha256

    def quoted(self, first_line: int, last_line: int) -> str | None:
        """The text of the lines, or None where there are fewer."""
        return quoted(self.text, first_line, last_line)

    def get_absolute_url(self) -> str:
        return f"{self.document.get_absolute_url()}?rev={self.short}"
