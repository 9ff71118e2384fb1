"""At which level an evaluation measures, and which of a campaign's cases that are (R18)."""

from __future__ import annotations

from campaigns.evaluator.problem.distributions import SKEWED, distribution_of
from campaigns.models import Campaign, Evaluation, EvaluationKind
from campaigns.models.evaluation import HELP
from campaigns.records.round.dispatch_classes import classes_by_case
from campaigns.rules.verdict.levels import Level, representative

SCREENING = (EvaluationKind.SCREEN, EvaluationKind.SWEEP, *HELP)


def level_of(evaluation: Evaluation) -> Level:
    """Screening is quick; whatever a verdict may accept is measured in full."""
    return Level.QUICK if evaluation.kind in SCREENING else Level.FULL


def cases_of(campaign: Campaign, level: Level) -> tuple[str, ...]:
    """The names of the cases of a level, none of which may be left out."""
    if level is Level.FULL:
        return tuple(map(str, campaign.cases))
    rows = list(campaign.case_rows)
    skewed = [row.name for row in rows if distribution_of(row.params) == SKEWED]
    return representative(classes_by_case(rows), campaign.problem.representative, skewed)
