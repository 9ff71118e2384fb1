"""The admin's view of the records: to read, never to rewrite (law 7)."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from campaigns.models import (
    Campaign,
    Candidate,
    Case,
    Evaluation,
    Event,
    Problem,
    Protocol,
    Round,
    Verdict,
    Worker,
)


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """Lists and shows; what changes a record are the steps."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


for model in (
    Campaign,
    Candidate,
    Case,
    Evaluation,
    Event,
    Problem,
    Protocol,
    Round,
    Verdict,
    Worker,
):
    admin.site.register(model, ReadOnly)
