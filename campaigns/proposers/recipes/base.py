"""What a recipe is, and the registry that recipes enter by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.contract import Param, Source
from campaigns.proposers.base import Category, Situation, Variant, discover
from campaigns.proposers.evidence import Facts
from campaigns.rules.verdict.buckets import Bucket

TEMPLATES = Path(__file__).parent / "templates"

Rewrite = Callable[[Situation], tuple[Variant, ...]]
Estimate = Callable[[Facts], float]


@dataclass(frozen=True, slots=True)
class About:
    """The words and numbers of a recipe.

    expected: the speed-up to expect from the facts (2.0 = half the time), before the floor
    caps it. bucket: how its gain reaches real use. ops: the operations it knows; empty means any
    source whose structure it recognises.
    """

    id: str
    title: str
    backend: str
    category: Category
    change: str
    rationale: str
    risks: str
    expected: Estimate
    bucket: Bucket
    ops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named technique that can rewrite source by itself."""

    about: About
    rewrite: Rewrite

    def variants(self, situation: Situation) -> tuple[Variant, ...]:
        """The rewritten sources; empty when the recipe does not recognise this one."""
        about = self.about
        if situation.backend != about.backend or (about.ops and situation.op not in about.ops):
            return ()
        return self.rewrite(situation)


_registry: dict[str, Recipe] = {}


def recipe(about: About) -> Callable[[Rewrite], Rewrite]:
    """Decorator: enter a rewriting function under the id of its description."""

    def enter(rewrite: Rewrite) -> Rewrite:
        _registry[about.id] = Recipe(about, rewrite)
        return rewrite

    return enter


def recipes() -> Mapping[str, Recipe]:
    """All recipes by id, in the order of their ids."""
    discover("campaigns.proposers.recipes")
    return dict(sorted(_registry.items()))


def single(source: Source | None, **params: Param) -> tuple[Variant, ...]:
    """One candidate, or none when the rewrite refused."""
    if source is None:
        return ()
    label = ", ".join(f"{name} {value}" for name, value in params.items())
    return (Variant(label=label or "rewritten", source=source, params=params),)


def template(name: str) -> str:
    """A complete kernel source of the folder `templates`."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
