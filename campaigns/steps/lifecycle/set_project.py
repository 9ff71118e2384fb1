"""Let only the members of a project see a campaign, or everybody again."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from campaigns.models import Campaign, Problem, RoundState
from campaigns.models.event import record
from campaigns.reports.found import index_rounds
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import is_lead
from knowledge.curation.projects import FIELD, named_project, put_into
from knowledge.experience.attempts.standing import take_into_project
from knowledge.models import Project, WorkKind, project_of
from knowledge.models.sight import NO_PROJECT


def require_fits(problem: Problem, wanted: Project | None) -> None:
    """Raise CurationError where others may see a campaign in this project than see its problem."""
    own = project_of(WorkKind.PROBLEM, problem.pk)
    if own and own != wanted:
        told = f"its problem {problem} is seen by the members of {own} alone"
        raise CurationError(FIELD, f"{told}; accepted: {own}, or a problem that everybody sees")


def may_set_project(campaign: Campaign, person: Any) -> bool:
    """Whether the user decides who sees it: its owner and leads; None is a command.

    Nobody of a sample, which can be deleted while a project keeps what was done with it.
    """
    if campaign.is_sample:
        return False
    return person is None or campaign.created_by_id == person.pk or is_lead(person)


def set_project(campaign: Campaign, name: str, by: Any) -> bool:
    """Move the campaign with all that was learnt in it; "" is everybody. False: it is there.

    Raises Forbidden for all but its owner and leads, CurationError, and Conflict where one of its
    attempts is merged with another campaign's.
    """
    if not may_set_project(campaign, by):
        raise Forbidden("who sees a campaign is decided by its owner or a lead")
    project = named_project(name, by)
    require_fits(campaign.problem, project)
    with transaction.atomic():
        if not put_into(project, WorkKind.CAMPAIGN, campaign.pk, by):
            return False
        seen_by = f"the members of {project}" if project else "everybody"
        record(campaign, "project", f"seen by {seen_by} from now on", by=by)
        take_into_project(campaign.pk, project.pk if project else NO_PROJECT)
        closed = campaign.rounds.filter(state=RoundState.CLOSED, verdict__isnull=False)
        related = ("campaign__problem", "campaign__platform", "verdict")
        index_rounds(campaign, closed.select_related(*related))
    return True
