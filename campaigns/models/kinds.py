"""The kinds of rounds and of evaluations, and in what each differs from the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from django.db import models

from campaigns.rules.verdict.case_limits import Level


class EvaluationKind(models.TextChoices):
    BASELINE = "baseline"
    SCREEN = "screen"
    SWEEP = "sweep"
    # Earlier versions shared a search among workers, which tried (or built) points of one.
    SHARE = "share"
    BUILD = "build"
    DECIDE = "decide"
    REMEASURE = "remeasure"
    REPORT = "report"
    REPRODUCE = "reproduce"
    SERIES = "series"
    # A reference implementation in torch beside the candidate.
    EAGER = "eager"
    COMPILE = "compile"
    COMPILE_MAX = "compile-max-autotune"
    LIBRARY = "library"


class EvaluationRole(Enum):
    """Who waits for an evaluation: the open round, the end of the campaign, nobody."""

    ROUND = "round"
    FINAL = "final"
    REPRODUCTION = "reproduction"
    SERIES = "series"
    TORCH = "torch"


@dataclass(frozen=True, slots=True)
class EvaluationTraits:
    """What is different for evaluations of one kind.

    words: what it is for. weight: of the evaluations of a candidate the verdict rests on one with
    the largest; None: on none of these. ends_early: whether it may end at a look of the protocol.
    The baseline's noise becomes the floor of all rounds and the report's gain is the campaign's, so
    these may not. blocks: how many instead of the protocol's. reads_code: whether its candidate may
    be the incumbent next, whose machine code is read. repeats: whether to try inputs seen before.
    """

    words: str
    role: EvaluationRole = EvaluationRole.ROUND
    level: Level = Level.FULL
    weight: int | None = None
    ends_early: bool = False
    blocks: int | None = None
    reads_code: bool = False
    sanitizes: bool = False
    repeats: bool = False
    needs_device: bool = True

    @property
    def is_torch(self) -> bool:
        """Whether kopt's own reference is the candidate of the report, so an outcome is torch's."""
        return self.role is EvaluationRole.TORCH

    @property
    def is_apart(self) -> bool:
        """Whether no campaign waits for it, and a finished one may still have it."""
        apart = (EvaluationRole.REPRODUCTION, EvaluationRole.SERIES, EvaluationRole.TORCH)
        return self.role in apart

    @property
    def gives_way(self) -> bool:
        """Whether a round that comes later ends it, and it waits again."""
        return self.role in (EvaluationRole.SERIES, EvaluationRole.TORCH)

    @property
    def is_after_the_round(self) -> bool:
        """Whether it measures what is closed."""
        return self.is_apart or self.role is EvaluationRole.FINAL

    @property
    def counts(self) -> bool:
        """Whether its time is device time of the campaign.

        Builds need none, torch is no search, and the series begins when the campaign is over.
        """
        return self.needs_device and not self.gives_way


def _torch(words: str) -> EvaluationTraits:
    return EvaluationTraits(words, EvaluationRole.TORCH)


EVALUATION_KINDS: Mapping[str, EvaluationTraits] = {
    EvaluationKind.BASELINE: EvaluationTraits("baseline", weight=1, reads_code=True),
    EvaluationKind.SCREEN: EvaluationTraits("screening", level=Level.QUICK, weight=0, blocks=2),
    EvaluationKind.SWEEP: EvaluationTraits("search", level=Level.QUICK, weight=0),
    EvaluationKind.SHARE: EvaluationTraits("share of the search", level=Level.QUICK),
    EvaluationKind.BUILD: EvaluationTraits(
        "builds for the search", level=Level.QUICK, needs_device=False
    ),
    EvaluationKind.DECIDE: EvaluationTraits("decision", weight=1, ends_early=True),
    EvaluationKind.REMEASURE: EvaluationTraits(
        "second session", ends_early=True, reads_code=True, sanitizes=True, repeats=True
    ),
    EvaluationKind.REPORT: EvaluationTraits("last comparison with v0", EvaluationRole.FINAL),
    EvaluationKind.REPRODUCE: EvaluationTraits(
        "on another device", EvaluationRole.REPRODUCTION, ends_early=True
    ),
    EvaluationKind.SERIES: EvaluationTraits("against v0 again", EvaluationRole.SERIES),
    EvaluationKind.EAGER: _torch("torch eager"),
    EvaluationKind.COMPILE: _torch("torch.compile"),
    EvaluationKind.COMPILE_MAX: _torch("torch.compile, max-autotune"),
    EvaluationKind.LIBRARY: _torch("the library's kernel"),
}

# The same as sets, for queries.
TORCH = tuple(kind for kind, traits in EVALUATION_KINDS.items() if traits.is_torch)
APART = tuple(kind for kind, traits in EVALUATION_KINDS.items() if traits.is_apart)
DECIDING = tuple(k for k, traits in EVALUATION_KINDS.items() if traits.weight is not None)
CODE_IS_READ = tuple(kind for kind, traits in EVALUATION_KINDS.items() if traits.reads_code)
AFTER_THE_ROUND = tuple(k for k, traits in EVALUATION_KINDS.items() if traits.is_after_the_round)
UNCOUNTED = tuple(kind for kind, traits in EVALUATION_KINDS.items() if not traits.counts)


class RoundKind(models.TextChoices):
    BASELINE = "baseline"
    ATTEMPT = "attempt"
    SWEEP = "sweep"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class RoundTraits:
    """What is different for rounds of one kind.

    evaluated_as: the first evaluation of each candidate. is_attempt: whether it tries an idea
    against an incumbent. is_mendable: whether a candidate that failed may be repaired. ends_early:
    whether its evaluations may end at a look of the protocol.
    """

    evaluated_as: EvaluationKind
    is_attempt: bool = True
    is_mendable: bool = True
    ends_early: bool = True

    @property
    def is_screened(self) -> bool:
        """Whether several candidates are compared first, and the best is measured in full."""
        return self.evaluated_as is EvaluationKind.SCREEN


ROUND_KINDS: Mapping[str, RoundTraits] = {
    RoundKind.BASELINE: RoundTraits(EvaluationKind.BASELINE, is_attempt=False, is_mendable=False),
    RoundKind.ATTEMPT: RoundTraits(EvaluationKind.DECIDE),
    RoundKind.SWEEP: RoundTraits(EvaluationKind.SCREEN),
    # Made of two kernels that were right, and has to show a gain in each of its classes.
    RoundKind.SPLIT: RoundTraits(EvaluationKind.DECIDE, is_mendable=False, ends_early=False),
}
ATTEMPTS = tuple(kind for kind, traits in ROUND_KINDS.items() if traits.is_attempt)
