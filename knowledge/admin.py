"""The wiki in the admin, to look at: documents change by import, values by review."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from knowledge.models import Citation, Document, Platform, Revision, Spec


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    """Shows rows and changes none."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


admin.site.register([Platform, Document, Revision, Spec, Citation], ReadOnly)
