"""Addresses elsewhere that are told what happens here, and every delivery to them."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils import timezone
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
    """One address. It takes no change and ends for good.

    site: this server as its maker reached it, with a slash at the end, for links. kinds: of
    `HookKind`. nonce: what the secret is made of, together with the key of this installation, so
    that no copy of the database holds it.
    """

    SEALED = models.Q(ended_at__isnull=False)

    url = models.CharField(max_length=500)
    site = models.CharField(max_length=300)
    kinds = models.JSONField()
    nonce = models.CharField(max_length=64)
    by = person()
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("webhook", args=[self.pk])

    @property
    def secret(self) -> str:
        """What deliveries are signed with; a page shows it once."""
        return salted_hmac(SALT, self.nonce, algorithm="sha256").hexdigest()

    @property
    def told(self) -> list[str]:
        """Its kinds in words."""
        return [HookKind(kind).label for kind in self.kinds]


class Delivery(Guarded):
    """One message to one address, tried until it arrives or no try is left, and then sealed.

    source: what it tells of, as `event:12`; once for each address, and again for each person who
    asks, `by`. body: what is sent, byte by byte. attempts: tries that were begun. next_at: when it
    is tried next; while it is tried, when another process may take it over. status: the last HTTP
    status; null where nothing was answered. excerpt: the begin of the answer, or why there is none.
    """

    SEALED = models.Q(ended_at__isnull=False)

    webhook = models.ForeignKey(Webhook, models.PROTECT, related_name="deliveries")
    kind = models.CharField(max_length=40)
    source = models.CharField(max_length=40)
    body = models.TextField()
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    excerpt = models.TextField(blank=True)
    by = person()
    at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "deliveries"
        constraints = (
            models.UniqueConstraint(
                fields=["webhook", "source"],
                condition=models.Q(by__isnull=True),
                name="one_delivery_per_source",
            ),
        )

    def __str__(self) -> str:
        return f"delivery {self.pk} of {self.source}"

    @property
    def word(self) -> str:
        """Where it stands, in a word."""
        if self.ended_at is None:
            return "waits" if not self.attempts else "will be tried again"
        return "delivered" if self.arrived else "given up"

    @property
    def arrived(self) -> bool:
        return self.status is not None and 200 <= self.status < 300
