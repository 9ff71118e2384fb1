"""Note that a person wants a new noise passport."""

from __future__ import annotations

from django.contrib.auth.models import User

from campaigns.models import PassportWish, Worker


def ask_for_passport(worker: Worker, who: User | None) -> PassportWish:
    """Note that a person wants a new passport; the worker takes it when its device is free."""
    return PassportWish.objects.create(worker=worker, asked_by=who)
