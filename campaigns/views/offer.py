"""The platforms that a new campaign may choose from, with what they lack."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max

from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.roofline import choose_ceiling
from campaigns.steps.create_campaign import TIMED_ON
from knowledge.lookup import bandwidth_ceilings, compute_ceilings
from knowledge.models import Platform
from knowledge.specs.cited import Cited


@dataclass(frozen=True, slots=True)
class PlatformOffer:
    """One platform for problems of one dtype. has_worker: one was seen at some time."""

    platform: Platform
    bandwidth: Cited | None
    compute: Cited | None
    backends: tuple[str, ...]
    has_worker: bool

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
            compute=choose_ceiling(compute_ceilings(platform, problem.dtype)),
            backends=tuple(n for n in TIMED_ON.get(platform.kind, ()) if n in problem.files),
            has_worker=platform.worker_seen is not None,
        )
        for platform in platforms
    ]
    return tuple(sorted(offers, key=lambda o: (bool(o.missing), not o.has_worker)))
