"""A candidate that somebody handed in, which waits for its round."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from campaigns.evaluator.contract import Source
from campaigns.models.campaign import Campaign
from campaigns.models.transitions import FINISHED
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Submitter(models.TextChoices):
    """What handed it in; the values are those of `campaigns.rules.stop.proposers.ProposerKind`."""

    PERSON = "person"
    AGENT = "agent"


class Submission(Guarded):
    """A hypothesis with its source, from a person or an agent. Append-only.

    It waits until a round refers to it (`Round.submission`), and no second round ever does. name:
    of the person or the agent. by: the account behind it; None for a command. hypothesis: the
    fields of `campaigns.proposers.base.Hypothesis`. against: the incumbent that it was written
    against.
    """

    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="submissions")
    kind = models.CharField(max_length=20, choices=Submitter)
    name = models.CharField(max_length=150)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    hypothesis = models.JSONField()
    against = models.ForeignKey("campaigns.Candidate", on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=100)
    text = models.TextField()
    flags = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"submission {self.pk} to campaign {self.campaign_id}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.campaign_id, self.pk])

    def refuse_late(self) -> None:
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no submission")

    @property
    def title(self) -> str:
        return str(self.hypothesis["title"])

    @property
    def source(self) -> Source:
        return Source(name=self.file_name, text=self.text, flags=tuple(self.flags))
