"""What people say to each other about a record, and what they are told of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models

from knowledge.models.guarded import ALWAYS, Guarded
from knowledge.models.sight import SeenManager

LONGEST_COMMENT = 4000  # characters
LONGEST_KEY, LONGEST_ANCHOR = 80, 200
LONGEST_NOTICE = 300


class SubjectKind(models.TextChoices):
    """What a comment is about; a case and a diff belong to a round, and have its key."""

    ROUND = "round", "round"
    CAMPAIGN = "campaign", "campaign"
    CASE = "case", "case"
    DIFF = "diff", "line of a diff"
    SPEC = "spec", "value"
    LESSON = "lesson", "lesson"


class Comment(Guarded):
    """One remark of one person, plain text. Append-only.

    key: of the subject, as `knowledge.curation.comment` reads it: a campaign's key, "12/3" for its
    round 3, a value's key, a lesson's id. anchor: the case by name, or a line of the new source
    such as "L12"; "" elsewhere. parent: what it answers. retracts: an own comment that it takes
    back; its text is empty then.
    """

    SEALED = ALWAYS

    kind = models.CharField(max_length=12, choices=SubjectKind.choices)
    key = models.CharField(max_length=LONGEST_KEY)
    anchor = models.CharField(max_length=LONGEST_ANCHOR, blank=True)
    parent = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="replies"
    )
    retracts = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="retracted"
    )
    text = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["key", "kind"], name="comments_of_a_subject")]

    def __str__(self) -> str:
        return f"comment {self.pk} of {self.by} on {self.kind} {self.key}"


class NoticeKind(models.TextChoices):
    """Why somebody is told; the value is stored."""

    MENTION = "mention", "mentioned you"
    COMMENT = "comment", "commented"
    APPROVED = "approved", "approved"
    RETURNED = "returned", "returned"
    INVALID = "invalid", "marked invalid"
    RERUN = "rerun", "re-run"
    SERIES = "series", "measured again"


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self, person: Any) -> NotificationQuerySet:
        return self.filter(person=person, read_at=None)

    def tell(
        self,
        people: Iterable[int],
        kind: NoticeKind,
        text: str,
        url: str,
        campaign: int | None = None,
    ) -> None:
        """Tell each of these people once. people: keys of users; text is cut where too long."""
        short = text if len(text) <= LONGEST_NOTICE else f"{text[: LONGEST_NOTICE - 2]} …"
        self.bulk_create(
            Notification(person_id=key, kind=kind, text=short, url=url, campaign=campaign)
            for key in set(people)
        )

    def tell_author(self, row: Any, kind: NoticeKind, by: Any, why: str) -> None:
        """Tell whoever proposed a value or a lesson what another person decided about it.

        by: None is a command.
        """
        if row.proposed_by_id not in (None, by and by.pk):
            text = f"{row} {kind.label} by {by or 'a command'}{why and f': {why}'}"
            self.tell([row.proposed_by_id], kind, text, row.get_absolute_url())


class Notification(models.Model):
    """One thing that a person is told of. url: where to look. read_at: None while it is news.

    mailed_at: when a letter told it; None where none did. campaign: the key of the one that it is
    about, whose project may hide it; None for others.
    """

    HIDDEN_WITH = ("campaign",)

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="notifications"
    )
    kind = models.CharField(max_length=12, choices=NoticeKind.choices)
    text = models.CharField(max_length=LONGEST_NOTICE)
    url = models.CharField(max_length=300)
    campaign = models.BigIntegerField(null=True, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    objects = SeenManager.from_queryset(NotificationQuerySet)()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["person", "read_at"], name="notices_of_a_person")]

    def __str__(self) -> str:
        return self.text


class MailAddress(models.Model):
    """Where a person wants what they have not read, confirmed by a letter; no row: no mail.

    site: the address of this installation as that person reaches it, for links.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="mail", primary_key=True
    )
    address = models.EmailField()
    site = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.address
