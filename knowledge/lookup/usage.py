"""Where a value is used and what would move without it, and which values were measured here.

This app knows nothing of those who use it: they register a provider when they are loaded (in
`AppConfig.ready`), and pages ask all providers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from knowledge.lookup.value import spec_behind
from knowledge.models import Citation, Platform, Spec
from knowledge.models.document import MEASURED_ORIGIN
from knowledge.specs.cited import Cited, EvidenceClass


def measured_here(platform: Platform, metrics: Iterable[str], /) -> bool:
    """Whether this installation itself has measured one of these metrics of the platform."""
    own = Citation.objects.filter(
        spec=OuterRef("pk"), revision__document__origin=MEASURED_ORIGIN
    ).filter(revision__document__withdrawn_at=None)
    rows = Spec.objects.preferred().filter(platform=platform, metric__in=list(metrics))
    return rows.filter(Exists(own), evidence=EvidenceClass.MEASURED).exists()


def measured_elsewhere(platform: Platform, answers: Iterable[Cited], /) -> list[Spec]:
    """The specs of measured answers whose document this installation did not write, in order.

    A rate that somebody else measured, wherever it stands, is none of this device.
    """
    found = []
    for answer in answers:
        spec = spec_behind(platform, answer) if answer.evidence == EvidenceClass.MEASURED else None
        if spec is None or spec.citation is None:
            continue
        if spec.citation.revision.document.origin != MEASURED_ORIGIN:
            found.append(spec)
    return found


@dataclass(frozen=True, slots=True)
class Replacement:
    """A value in use, and the one that may take its place; None asks for the uses alone."""

    spec: Spec
    replacement: Spec | None = None


@dataclass(frozen=True, slots=True)
class SpecUse:
    """One thing that rests on a value, in words for a page.

    title, url: what it is and where it opens. purpose: what the value does there ("bandwidth of
    the roof"). target: the target it leads to now, with its unit; empty where it leads to none.
    would_be: that target with the replacement, equal to `target` where nothing moves; empty where
    no replacement was asked about, or where the target cannot be computed with it (`reason` says
    why then).
    """

    title: str
    url: str
    purpose: str
    target: str = ""
    would_be: str = ""
    reason: str = ""

    @property
    def moves(self) -> bool:
        """Whether the replacement leads to another target."""
        return bool(self.would_be) and self.would_be != self.target


# One list of uses for each swap, in the order of the swaps. It is asked about a whole page of
# values at once, so the number of its queries must not grow with them.
Provider = Callable[[Sequence[Replacement]], Sequence[Sequence[SpecUse]]]

_providers: list[Provider] = []


def register(provider: Provider) -> Provider:
    """Ask `provider` too from now on; usable as a decorator. Once is enough."""
    if provider not in _providers:
        _providers.append(provider)
    return provider


def unregister(provider: Provider) -> None:
    """Ask it no longer. ValueError where it was never registered."""
    _providers.remove(provider)


def uses(swaps: Sequence[Replacement]) -> list[list[SpecUse]]:
    """For each swap what every provider says, in order of registration.

    ValueError for a provider that answers with another number of lists than it was asked for.
    """
    found: list[list[SpecUse]] = [[] for _ in swaps]
    if not swaps:
        return found
    for provider in _providers:
        for known, more in zip(found, provider(swaps), strict=True):
            known.extend(more)
    return found
