"""The parts of a dispatcher, and the error if two sources cannot be combined."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.evaluator.contract import Source
from campaigns.rules.verdict.predicate import Multiples, Predicate


class CannotSplit(ValueError):
    """These two sources cannot be combined; the message names the part and the reason."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the two sources. name: what its symbols are put under, "round_4"."""

    name: str
    source: Source


@dataclass(frozen=True, slots=True)
class DispatchPlan:
    """The variant where the predicate holds, the incumbent everywhere else.

    v0: the problem's own kernel: the names of its entry's parameters are those of the cases.
    when: which calls go to the variant, asked about integers that the kernel receives.
    """

    incumbent: Part
    variant: Part
    v0: Source
    when: Predicate | Multiples

    @property
    def words(self) -> str:
        """For the comment at the head of the source."""
        variant, other = (p.name.replace("_", " ") for p in (self.variant, self.incumbent))
        told = f"{self.when.words} runs the kernel of {variant}, all else that of {other}."
        return f"Dispatch split: {told}"

    @property
    def flags(self) -> tuple[str, ...]:
        """One source has one set of flags: those of the incumbent, then what the variant adds."""
        known = self.incumbent.source.flags
        return known + tuple(flag for flag in self.variant.source.flags if flag not in known)
