"""What the lists can be filtered by: the same as on their pages, and what a row belongs to."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import Q, QuerySet

from campaigns.evaluator.contract import Outcome
from campaigns.models import CampaignState, EvaluationKind, EvaluationState, RoundKind, RoundState
from campaigns.models.sweep import PRUNED
from campaigns.models.transitions import WORKING
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.lookup.listing import slug_meant

WORKING_WORD = "working"  # any state in which something is done
LARGEST_KEY = 2**63 - 1


class Key(filters.NumberFilter):
    """The id of a row."""

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, min_value=0, max_value=LARGEST_KEY, decimal_places=0, **options)


def _words(path: str, choices: Any, **options: Any) -> filters.ChoiceFilter:
    return filters.ChoiceFilter(
        path, choices=[(str(each), str(each)) for each in choices], **options
    )


OUTCOMES = [outcome.value for outcome in Outcome]


class CampaignFilters(filters.FilterSet):
    q = filters.CharFilter(method="with_text", label="text in its title or its problem's")
    problem = filters.CharFilter("problem__slug")
    op = filters.CharFilter("problem__op")
    backend = filters.CharFilter("backend")
    platform = filters.CharFilter(method="on_platform")
    state = _words("state", [*CampaignState, WORKING_WORD], method="in_state")
    archived = filters.BooleanFilter(method="out_of_sight", label="those out of sight instead")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Without the archived, unless they are asked for."""
        found: QuerySet[Any] = super().filter_queryset(queryset)
        return found if self.form.cleaned_data["archived"] else found.filter(archived=None)

    def out_of_sight(self, rows: QuerySet[Any], name: str, asked: bool) -> QuerySet[Any]:
        return rows.filter(archived__isnull=not asked)

    def on_platform(self, rows: QuerySet[Any], name: str, asked: str) -> QuerySet[Any]:
        return rows.filter(platform__slug=slug_meant(asked))

    def with_text(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(Q(title__icontains=text) | Q(problem__title__icontains=text))

    def in_state(self, rows: QuerySet[Any], name: str, state: str) -> QuerySet[Any]:
        return rows.filter(state__in=WORKING if state == WORKING_WORD else [state])


class RoundFilters(filters.FilterSet):
    campaign = Key("campaign")
    number = Key("number")
    kind = _words("kind", RoundKind)
    state = _words("state", RoundState)
    verdict = _words("verdict__word", VerdictWord, method="of_verdict")

    def of_verdict(self, rows: QuerySet[Any], name: str, word: str) -> QuerySet[Any]:
        running = word == VerdictWord.RUNNING
        return rows.filter(**({"verdict": None} if running else {name: word}))


class CandidateFilters(filters.FilterSet):
    campaign = Key("round__campaign")
    round = Key("round")
    digest = filters.CharFilter("digest")


class EvaluationFilters(filters.FilterSet):
    campaign = Key("candidate__round__campaign")
    round = Key("candidate__round")
    candidate = Key("candidate")
    worker = filters.CharFilter("worker__name")
    kind = _words("kind", EvaluationKind)
    state = _words("state", EvaluationState)
    outcome = _words("outcome", OUTCOMES)


class VerdictFilters(filters.FilterSet):
    campaign = Key("round__campaign")
    round = Key("round")
    word = _words("word", VerdictWord)
    reason = filters.CharFilter("reason")


class EventFilters(filters.FilterSet):
    campaign = Key("campaign")
    round = Key("round")
    kind = filters.CharFilter("kind")


class SweepFilters(filters.FilterSet):
    campaign = Key("round__campaign")
    round = Key("round")


class PointFilters(filters.FilterSet):
    outcome = _words("outcome", [*OUTCOMES, PRUNED])
    number = Key("number")


class ProblemFilters(filters.FilterSet):
    slug = filters.CharFilter("slug")
    op = filters.CharFilter("op")
    dtype = filters.CharFilter("dtype")
