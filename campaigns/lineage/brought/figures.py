"""A claimed figure in words, with its own unit: nothing is converted, as nothing was measured."""

from __future__ import annotations


def figure_words(figure: float | None, unit: str) -> str:
    """As it was written, or that there is none."""
    return "no figure" if figure is None else f"{figure:.10g} {unit}".strip()
