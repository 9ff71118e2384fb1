"""Addresses elsewhere that are told what happens here."""

from __future__ import annotations

from django.db import models
from django.utils.crypto import salted_hmac

from knowledge.models.guarded import Guarded, person

SALT = "campaigns.webhook"


class HookKind(models.TextChoices):
    """What an address can be told of."""

    JUDGED = "round_judged", "a round was judged"
    DECIDED = "round_decided", "a person decided on a round"
    CONFIRMED = "standing_changed", "a gain was confirmed or doubted"
    FINISHED = "campaign_finished", "a campaign ended"
    APPROVED = "value_approved", "a value of the wiki was approved"


# The kinds of events that each is read from; a value's history is in tables of its own.
EVENT_KINDS: dict[str, tuple[str, ...]] = {
    HookKind.JUDGED: ("verdict",),
    HookKind.DECIDED: ("decided",),
    HookKind.CONFIRMED: ("standing",),
    HookKind.FINISHED: ("finished", "aborted"),
}


class Webhook(Guarded):
    """One address, which ends for good.

    site: this server as its maker reached it, with a slash at the end, for links. kinds: of
    `HookKind`. nonce: what the secret is made of, together with the key of this installation, so
    that no copy of the database holds it. told_until: what happened before was handed to the queue;
    null until the first time. answer: to the last message: "status" (null without one), "text" and
    "at", as ISO 8601.
    """

    SEALED = models.Q(ended_at__isnull=False)

    url = models.CharField(max_length=500)
    site = models.CharField(max_length=300)
    kinds = models.JSONField()
    nonce = models.CharField(max_length=64)
    by = person()
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    told_until = models.DateTimeField(null=True, blank=True)
    answer = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def secret(self) -> str:
        """What messages are signed with; a page shows it once."""
        return salted_hmac(SALT, self.nonce, algorithm="sha256").hexdigest()

    @property
    def told(self) -> list[str]:
        """Its kinds in words."""
        return [HookKind(kind).label for kind in self.kinds]
