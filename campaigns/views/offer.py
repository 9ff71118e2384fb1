"""The platforms that a new campaign may choose from, with what they lack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from django.db.models import Max

from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.steps.lifecycle.create_campaign import TIMED_ON
from knowledge.lookup.standing import standings
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings
from knowledge.models import Platform, Spec
from knowledge.specs.citation import CitationState
from knowledge.specs.cited import Cited


@dataclass(frozen=True, slots=True)
class PlatformOffer:
    """One platform for problems of one dtype.

    has_worker: one was seen at some time. states: of citations, by their line of text.
    """

    platform: Platform
    bandwidth: Cited | None
    compute: Cited | None
    backends: tuple[str, ...]
    has_worker: bool
    states: Mapping[str, CitationState] = field(default_factory=dict)

    @property
    def bandwidth_state(self) -> str:
        """How the lines that it rests on stand in the newest text."""
        return self._state(self.bandwidth)

    @property
    def compute_state(self) -> str:
        return self._state(self.compute)

    def _state(self, used: Cited | None) -> str:
        return str(self.states.get(used.citation if used else "", CitationState.LOST))

    @property
    def missing(self) -> str:
        """Why it can not be chosen; empty when it can."""
        lacks = {"memory bandwidth": self.bandwidth, "peak for this dtype": self.compute}
        names = [name for name, found in lacks.items() if found is None]
        if names:
            return f"the wiki has no approved {' and no '.join(names)}"
        return "" if self.backends else "no backend of this problem is timed on it"


def platform_offers(problem: ProblemSpec) -> tuple[PlatformOffer, ...]:
    """Every platform with its ceilings for the problem's dtype; those that can be chosen first."""
    platforms = Platform.objects.annotate(worker_seen=Max("workers__heartbeat_at"))
    offers = [
        PlatformOffer(
            platform=platform,
            bandwidth=choose_ceiling(bandwidth_ceilings(platform)),
            compute=choose_ceiling(
                compute_ceilings(platform, problem.dtype, accumulate=problem.accumulate)
            ),
            backends=tuple(n for n in TIMED_ON.get(platform.kind, ()) if n in problem.files),
            has_worker=platform.worker_seen is not None,
        )
        for platform in platforms
    ]
    states = _states(offers)
    offers = [replace(offer, states=states.get(offer.platform.pk, {})) for offer in offers]
    return tuple(sorted(offers, key=lambda o: (bool(o.missing), not o.has_worker)))


def _states(offers: Iterable[PlatformOffer]) -> dict[int, dict[str, CitationState]]:
    """Platform → citation → its state now; a few queries for all offers together."""
    used = {(o.platform.pk, c.metric) for o in offers for c in (o.bandwidth, o.compute) if c}
    platforms, metrics = {pk for pk, _ in used}, {metric for _, metric in used}
    asked = Spec.objects.approved().filter(platform__in=platforms, metric__in=metrics)
    specs = list(asked.for_sheet())
    states = standings(specs)
    found: dict[int, dict[str, CitationState]] = defaultdict(dict)
    for spec in specs:
        if spec.pk in states:
            found[spec.platform_id][str(spec.citation)] = states[spec.pk]
    return found
