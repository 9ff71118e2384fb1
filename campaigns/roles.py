"""What the roles of `knowledge.curation.people` may do with campaigns: who runs code here."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, Permission

from knowledge.curation.people import ROLES

RUNS_CAMPAIGNS = ("engineer", "lead")
PERMISSIONS = ("add_campaign", "change_campaign")


def ensure_roles(**signal: Any) -> None:
    """Give the groups their permissions; run after every migration."""
    found = Permission.objects.filter(content_type__app_label="campaigns", codename__in=PERMISSIONS)
    for role in ROLES:
        group, _ = Group.objects.get_or_create(name=role)
        if role in RUNS_CAMPAIGNS:
            group.permissions.add(*found)
