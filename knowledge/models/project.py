"""Projects: named groups of people, what belongs to them, and what was done with them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from knowledge.models.guarded import ALWAYS, Guarded, person
from knowledge.models.sight import Eyes

LONGEST_PROJECT = 60  # characters


class Project(models.Model):
    """A named group of people. Its work exists for its members and for leads alone."""

    name = models.CharField(max_length=LONGEST_PROJECT, unique=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="projects")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class WorkKind(models.TextChoices):
    """What can belong to a project; the value is the model's name."""

    CAMPAIGN = "campaign"
    PROBLEM = "problem"


class ProjectWork(models.Model):
    """Says that a campaign or a problem belongs to a project; without a row everybody sees it.

    It stands beside them, as both are sealed. key: their own, as `Experience.campaign`.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="work")
    kind = models.CharField(max_length=10, choices=WorkKind.choices)
    key = models.BigIntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["kind", "key"], name="one_project"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.key} of project {self.project}"


class ProjectChange(Guarded):
    """One change of a project, in words. Append-only."""

    SEALED = ALWAYS

    project = models.ForeignKey(Project, models.PROTECT, related_name="changes")
    what = models.TextField()
    by = person()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.project}: {self.what}"


def project_of(kind: WorkKind, key: int) -> Project | None:
    """The project that it belongs to; None where everybody sees it."""
    found = ProjectWork.objects.filter(kind=kind, key=key).select_related("project").first()
    return found.project if found else None


def eyes_of_campaign(key: int) -> Eyes:
    """What a campaign may learn of: what is nobody's, and what is of its own project."""
    return eyes_of_project(project_of(WorkKind.CAMPAIGN, key))


def eyes_of_project(project: Project | None) -> Eyes:
    """What is nobody's, and what is of this project; None: what everybody sees."""
    others = Project.objects.exclude(pk=project.pk) if project else Project.objects.all()
    keys = frozenset(others.values_list("pk", flat=True))
    return lambda: keys
