"""Collects the knobs of one source, each under a name of its own that an expression can use."""

from __future__ import annotations

import ast

from campaigns.evaluator.contract import Param
from campaigns.spaces.space import Knob, Site


class KnobList:
    """Knobs in the order of their worth."""

    def __init__(self) -> None:
        self.knobs: list[Knob] = []

    def add(
        self, name: str, values: tuple[Param, ...], default: Param, *sites: Site
    ) -> ast.Name | ast.Constant:
        """Add a knob; what stands for it in expressions: its final name.

        A knob of a name that is taken is numbered. Where there is nothing to choose from, none is
        added, and the value itself is answered.
        """
        if len(values) < 2:
            return ast.Constant(default)
        taken = {knob.name for knob in self.knobs}
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        self.knobs.append(Knob(free, values, default, sites))
        return ast.Name(free, ast.Load())
