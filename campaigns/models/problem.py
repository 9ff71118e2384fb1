"""What a kernel must compute: reference, input generator, cases, tolerance, work model."""

from __future__ import annotations

import tomllib
from functools import cached_property
from typing import Any

from django.db import models
from django.urls import reverse

from campaigns.evaluator.contract.problem import ACCUMULATES
from campaigns.rules.noise.directions import Direction, Half
from knowledge.models.guarded import ALWAYS, Guarded


class Problem(Guarded):
    """One version of a problem folder, kept whole: the digest is over all of its files.

    files: file name → text, exactly as imported. tolerance: {"atol": …, "rtol": …}.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("pk",)

    slug = models.SlugField()
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    op = models.CharField(max_length=60)
    dtype = models.CharField(max_length=20)
    summary = models.TextField(blank=True)
    files = models.JSONField()
    backends = models.JSONField()
    tolerance = models.JSONField()
    config_class = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["slug", "digest"], name="one_row_per_problem_version"),
        )
        ordering = ("slug", "-created_at")

    def __str__(self) -> str:
        return f"{self.slug}@{self.digest[:8]}"

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("problem", args=[self.pk])

    @cached_property
    def _declared(self) -> dict[str, Any]:
        """The content of problem.toml; a row and its files never change."""
        return tomllib.loads(self.files.get("problem.toml", ""))

    @property
    def accumulate(self) -> str:
        """The least precision for sums of products of short floats, from problem.toml."""
        return str(self._declared.get("accumulate", ACCUMULATES[0]))

    @property
    def representative(self) -> tuple[str, ...]:
        """The representative cases of screening, from problem.toml."""
        return tuple(map(str, self._declared.get("representative", ())))

    def flags_of(self, backend: str) -> tuple[str, ...]:
        """The compiler flags of a backend's v0, from problem.toml."""
        return tuple(map(str, self._declared.get("flags", {}).get(backend, ())))

    @property
    def call_of_library(self) -> str:
        """The call of torch that is the library's kernel for it, from problem.toml; "" if none."""
        return str(self._declared.get("library", ""))

    @property
    def halves(self) -> dict[str, Half]:
        """Case → the step and direction that it measures; empty if problem.toml names no steps."""
        return {
            case["name"]: Half(case["step"], Direction(case["direction"]))
            for case in self._declared.get("case", ())
            if "step" in case
        }


class Case(Guarded):
    """One input configuration of a problem: shape, dtype, distribution."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("problem",)

    problem = models.ForeignKey(Problem, on_delete=models.PROTECT, related_name="cases")
    name = models.CharField(max_length=80)
    params = models.JSONField()
    device_kinds = models.JSONField(default=list)
    protected = models.BooleanField(default=True)
    ordinal = models.PositiveIntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["problem", "name"], name="one_case_name"),)
        ordering = ("ordinal",)

    def __str__(self) -> str:
        return f"{self.problem} {self.name}"
