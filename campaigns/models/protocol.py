"""The frozen measuring rules of a campaign. Results of different protocols are not comparable."""

from __future__ import annotations

from django.db import models

from knowledge.models.guarded import ALWAYS, Guarded


class Protocol(Guarded):
    """Rules as `campaigns.evaluator.contract.Protocol` reads them, one row per distinct set."""

    SEALED = ALWAYS

    digest = models.CharField(max_length=64, unique=True)
    rules = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"protocol {self.digest[:8]}"
