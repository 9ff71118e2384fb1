"""The registry of metric names: what each one means, its canonical unit, and what is plausible."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.specs.metric_table import TABLE
from knowledge.specs.quantity import Quantity

TEXT = "text"
DIMENSIONS = {
    "B": "memory size",
    "B/s": "bandwidth",
    "Hz": "frequency",
    "W": "power",
    "bit": "width",
    "bit/s": "data rate",
    "count": "count",
    "op/clk": "rate per clock",
    "op/s": "rate",
    "ratio": "ratio",
    TEXT: TEXT,
}


class MetricError(ValueError):
    """A metric name that nobody registered, or a unit of the wrong kind for it."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One kind of fact. `unit` is the canonical unit, or "text" for names such as HBM3e.

    `low` and `high`, in that unit, bound what is plausible: three times beyond anything that was
    found documented. They are there to warn, not to forbid. Text metrics have neither.
    """

    name: str
    unit: str
    meaning: str
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()  # what other files call it; no line of ours may

    @property
    def numeric(self) -> bool:
        return self.unit != TEXT

    @property
    def dimension(self) -> str:
        """The kind of quantity in a word: memory size, bandwidth, rate, …"""
        return DIMENSIONS[self.unit]

    def plausible(self, value: float, /) -> bool:
        """Whether a value in the canonical unit lies in the plausible range."""
        return self.low is None or self.high is None or self.low <= value <= self.high


def _read(record: str) -> Metric:
    line, *more = record.splitlines()
    aliases = tuple(word for each in more for word in each.split())
    fields = [field.strip() for field in line.split("|")]
    if len(fields) == 3 and fields[1] == TEXT:
        return Metric(fields[0], TEXT, fields[2], aliases=aliases)
    name, low, high, meaning = fields
    least, most = Quantity.parse(low).canonical(), Quantity.parse(high).canonical()
    return Metric(name, most.unit, meaning, least.value, most.value, aliases)


RECORD = re.compile(r"\n(?! )")  # an indented line continues a record
METRICS = {metric.name: metric for metric in map(_read, RECORD.split(TABLE.strip()))}
ALIASES = {alias: metric for metric in METRICS.values() for alias in metric.aliases}


def metric_named(name: str) -> Metric:
    """The registered metric of exactly this name.

    MetricError names the right one where an alias was given, otherwise the nearest ones.
    """
    if name in METRICS:
        return METRICS[name]
    if name in ALIASES:
        raise MetricError(f"unknown metric '{name}'; accepted: {ALIASES[name].name}")
    stem = name.split("_", 1)[0]
    near = [known for known in METRICS if known.startswith(stem)] or list(METRICS)
    raise MetricError(f"unknown metric '{name}'; accepted: {', '.join(near)}")


def resolve_metric(name_or_alias: str) -> Metric:
    """The metric of this name or alias, for readers of files that others wrote."""
    return ALIASES.get(name_or_alias) or metric_named(name_or_alias)
