"""Who may do what to the wiki: engineers propose, curators decide, nobody decides on their own.

A `None` person is a command of this installation; whoever can run it can reach the database anyway.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, Permission

from knowledge.curation.errors import Forbidden

PROPOSE = "knowledge.propose_spec"
REVIEW = "knowledge.review_spec"

# Groups and what they may do here; a viewer reads and has no entry of permissions.
ROLES: dict[str, tuple[str, ...]] = {
    "viewer": (),
    "engineer": (PROPOSE,),
    "curator": (PROPOSE, REVIEW),
    "lead": (PROPOSE, REVIEW),
}
PROPOSERS = [role for role, permissions in ROLES.items() if PROPOSE in permissions]


def may_propose(person: Any) -> bool:
    """Whether this user may propose values and bring documents in."""
    return bool(person.is_authenticated and person.has_perm(PROPOSE))


def may_review(person: Any) -> bool:
    """Whether this user may approve, return, retire and answer flags."""
    return bool(person.is_authenticated and person.has_perm(REVIEW))


def is_lead(person: Any) -> bool:
    """Whether this user may see who did what."""
    return bool(person.is_superuser or person.groups.filter(name="lead").exists())


def require_proposer(person: Any) -> None:
    """Raise Forbidden unless this person, or a command, may propose."""
    if person is not None and not may_propose(person):
        raise Forbidden("proposing needs the role engineer, curator or lead")


def require_reviewer(person: Any) -> None:
    """Raise Forbidden unless this person, or a command, may review."""
    if person is not None and not may_review(person):
        raise Forbidden("reviewing needs the role curator or lead")


def ensure_roles(**signal: Any) -> None:
    """Create the groups and give them their permissions; run after every migration."""
    for role, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        codes = [name.partition(".")[2] for name in permissions]
        found = Permission.objects.filter(content_type__app_label="knowledge", codename__in=codes)
        group.permissions.add(*found)
