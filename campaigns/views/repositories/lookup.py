"""The rows that addresses of repositories name, or 404."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from campaigns.models import Repository, RepositoryRound


def repository_at(key: int) -> Repository:
    return get_object_or_404(Repository.objects.select_related("platform", "created_by"), pk=key)


def repository_round_at(key: int, number: int) -> RepositoryRound:
    rows = RepositoryRound.objects.select_related("repository__platform", "worker", "repairs")
    return get_object_or_404(rows, repository=key, number=number)
