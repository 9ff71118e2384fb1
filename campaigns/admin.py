"""The admin's view of the records: to read, never to rewrite (law 7)."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin

from knowledge.admin import ReadOnly

# Every model of the app: what changes a record are the steps.
admin.site.register(list(apps.get_app_config("campaigns").get_models()), ReadOnly)
