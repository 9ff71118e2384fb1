"""A problem folder becomes one Problem row with its Cases; the same files give the same row."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from campaigns.models import Case, Problem
from campaigns.records.problem_rows import read_problem


def import_problem(folder: Path) -> Problem:
    """Store `folder` whole and return its row. Raises ProblemError; then nothing was stored."""
    read, cases = read_problem(folder)
    stored = {field.name: getattr(read, field.name) for field in Problem._meta.concrete_fields}
    key = {"slug": stored.pop("slug"), "digest": stored.pop("digest")}
    del stored["id"]
    with transaction.atomic():
        problem, created = Problem.objects.get_or_create(**key, defaults=stored)
        if created:
            for case in cases:
                case.problem = problem
            Case.objects.bulk_create(cases)
    return problem
