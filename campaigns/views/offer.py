"""The platforms that a new campaign may choose from, with what they lack."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.records.device_waits import no_worker_words
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.steps.lifecycle.create_campaign import timed_on
from knowledge.lookup.value import (
    MATMUL,
    MEASURED_BANDWIDTHS,
    UNITS,
    StaleAnswer,
    bandwidth_ceilings,
    compute_ceilings,
)
from knowledge.models import Platform, Spec
from knowledge.specs.cited import Cited

BANDWIDTHS = frozenset((*MEASURED_BANDWIDTHS, "memory_bandwidth"))
CEILINGS = ("memory bandwidth", "peak for this dtype")


@dataclass(frozen=True, slots=True)
class PlatformOffer:
    """One platform for problems of one dtype.

    lacks: which ceilings the wiki does not have. has_worker: one was seen at some time; is_served:
    one is alive. bandwidth, compute: the ceilings, and stale: why there are none although the wiki
    has them, of the chosen platform alone.
    """

    platform: Platform
    lacks: tuple[str, ...]
    backends: tuple[str, ...]
    has_worker: bool
    is_served: bool
    bandwidth: Cited | None = None
    compute: Cited | None = None
    stale: str = ""

    @property
    def missing(self) -> str:
        """Why it cannot be chosen; empty when it can."""
        if self.stale:
            return self.stale
        if self.lacks:
            return f"the wiki has no approved {' and no '.join(self.lacks)}"
        return "" if self.backends else "no backend of this problem is timed on it"

    @property
    def served(self) -> str:
        """How far its workers are: alive, seen or none."""
        return "alive" if self.is_served else "seen" if self.has_worker else "none"

    @property
    def warning(self) -> str:
        """What to know before a campaign is started on it; empty where nothing is."""
        return "" if self.is_served else no_worker_words(self.platform)


def platform_offers(problem: ProblemSpec) -> tuple[PlatformOffer, ...]:
    """Every platform, in three queries; those that can be chosen first, live workers before others.

    Whether a ceiling is there is read from the metrics alone; `looked_up` knows it exactly.
    """
    units = UNITS.get(problem.dtype, ((MATMUL, ""),))
    rates, peaks = {rate for rate, _ in units}, {peak for _, peak in units if peak}
    specs = Spec.objects.approved().filter(metric__in=BANDWIDTHS | rates | peaks)
    known: dict[int, set[str]] = defaultdict(set)
    rows = specs.exclude(value=None).values_list("platform", "metric", "qualifiers")
    for key, metric, qualifiers in rows:
        if metric in BANDWIDTHS:
            known[key].add(CEILINGS[0])
        elif metric in peaks or qualifiers.get("dtype") == problem.dtype:
            known[key].add(CEILINGS[1])
    offers = [
        PlatformOffer(
            platform=platform,
            lacks=tuple(name for name in CEILINGS if name not in known[platform.pk]),
            backends=tuple(n for n in timed_on(platform) if n in problem.files),
            has_worker=bool(workers),
            is_served=any(worker.is_alive for worker in workers),
        )
        for platform in Platform.objects.prefetch_related("workers")
        for workers in [platform.workers.all()]
    ]
    return tuple(sorted(offers, key=lambda o: (bool(o.missing), not o.is_served, not o.has_worker)))


def looked_up(offer: PlatformOffer, problem: ProblemSpec) -> PlatformOffer:
    """The same with its ceilings; a fixed number of queries."""
    platform, accumulate = offer.platform, problem.accumulate
    try:
        bandwidths = bandwidth_ceilings(platform, strict=True)
        computes = compute_ceilings(platform, problem.dtype, accumulate=accumulate, strict=True)
    except StaleAnswer as stale:
        return replace(offer, stale=str(stale))
    bandwidth, compute = choose_ceiling(bandwidths), choose_ceiling(computes)
    found = zip(CEILINGS, (bandwidth, compute), strict=True)
    return replace(
        offer,
        lacks=tuple(name for name, ceiling in found if ceiling is None),
        bandwidth=bandwidth,
        compute=compute,
    )
