"""What is the same in every draw of `setup`, so that a kernel may have it built in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from campaigns.evaluator.judge.arena import same_bits
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, compare
from campaigns.evaluator.layout import Layout

BUILT_IN = "so that a kernel may have it built in"


class Draws:
    """Inputs and answers of one case over several seeds; only the last of them is kept."""

    def __init__(self, layout: Layout, tolerances: Mapping[str, Tolerance]) -> None:
        given = layout.given
        # Other floating inputs may stay: the input sets find kernels that ignore one.
        self._named = {arg.name for arg in given if arg.update or "float" not in arg.dtype}
        self._given = {arg.name: True for arg in given}
        self._answers = dict.fromkeys(tolerances, True)
        self._tolerances = tolerances
        self._before: tuple[Mapping[str, Any], Mapping[str, torch.Tensor]] | None = None
        self._seen = 0

    def see(self, inputs: Mapping[str, Any], answers: Mapping[str, torch.Tensor]) -> None:
        """Compare a draw with the one before. answers: the right ones."""
        if self._before is not None:
            drawn, right = self._before
            for name in _alike(self._given):
                self._given[name] = same_bits(drawn[name], inputs[name])
            for name in _alike(self._answers):
                found, want = answers[name], right[name]
                self._answers[name] = compare(found, want, self._tolerances[name]).ok
        self._before, self._seen = (inputs, answers), self._seen + 1

    @property
    def answer_varies(self) -> bool:
        """Whether any answer did; without two draws nobody knows that none does."""
        return self._seen < 2 or not all(self._answers.values())

    def notes(self) -> list[str]:
        """For the author of the problem; none before there are two draws."""
        if self._seen < 2:
            return []
        given = _alike(self._given)
        if given and given == list(self._given):
            return ["setup gives the same inputs for every seed: draw them from a generator of it"]
        found = []
        if named := [name for name in given if name in self._named]:
            found.append(f"the same in every draw of setup, {BUILT_IN}: {', '.join(named)}")
        if answers := _alike(self._answers):
            found.append(
                "the answer is within its tolerance the same in every draw of setup, "
                f"{BUILT_IN}: {', '.join(answers)}"
            )
        return found


def _alike(names: Mapping[str, bool]) -> list[str]:
    return [name for name, alike in names.items() if alike]
