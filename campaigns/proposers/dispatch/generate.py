"""One source of two: the specialised variant for some classes, the incumbent for all others (R19).

Both sources stay whole, also where one of them is such a dispatcher itself.
"""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.dispatch import c_family, triton
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan

LANGUAGES = ("cpp", "cuda", "triton")


def given_integers(backend: str, v0: Source) -> frozenset[str]:
    """What a predicate may ask about: names of arguments, for Triton of any kind.

    Raises CannotSplit, also for a backend that nothing is known about.
    """
    _known(backend)
    if backend == "triton":
        return frozenset(triton.given_names(v0))
    return c_family.given_integers(v0)


def dispatcher(backend: str, split: DispatchPlan) -> Source:
    """The source that chooses. Raises CannotSplit, naming the part and the reason."""
    _known(backend)
    if backend == "triton":
        return triton.dispatcher(split)
    return c_family.dispatcher(split, cuda=backend == "cuda")


def _known(backend: str) -> None:
    if backend not in LANGUAGES:
        raise CannotSplit(f"backend {backend!r}; accepted: {', '.join(LANGUAGES)}")
