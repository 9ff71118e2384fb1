"""What a measurement of ceilings found: raw samples, the ceilings chosen from them, and where."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

UNITS = {
    "copy_bandwidth": "B/s",
    "read_bandwidth": "B/s",
    "write_bandwidth": "B/s",
    "fma_throughput": "op/s",
    "matmul_throughput": "op/s",
}
BURST, SUSTAINED = "burst", "sustained"


class CeilingsError(Exception):
    """The device could not be measured; one line says why and what is needed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeats of one measurement.

    rates: per second, in the metric's unit: bytes read plus bytes written for a copy, two
    operations per multiply-add. array_bytes: size of one array, 0 where there is none.
    threads: 0 on a GPU. dtype: empty for copies. load: "burst", "sustained", or empty where the
    two were not told apart.
    """

    metric: str
    dtype: str
    method: str
    threads: int
    array_bytes: int
    rates: tuple[float, ...]
    load: str = ""

    def __post_init__(self) -> None:
        if self.metric not in UNITS:
            raise CeilingsError(f"metric '{self.metric}'; accepted: {', '.join(UNITS)}")
        if not self.rates or not all(rate > 0 for rate in self.rates):
            raise CeilingsError(f"{self.metric}: rates {self.rates}; accepted: above zero")

    @property
    def best(self) -> float:
        """The highest rate: a ceiling is what the device can do, not what it does on average."""
        return max(self.rates)

    @property
    def median(self) -> float:
        return median(self.rates)


@dataclass(frozen=True, slots=True)
class MeasuredCeiling:
    """The value of one metric, with the sample that it was taken from in words.

    cache: "cold", "warm" or empty. array_bytes: of one array, 0 where it is not part of the
    question: the best rate over several sizes.
    """

    metric: str
    dtype: str
    rate: float
    median_rate: float
    basis: str
    cache: str = ""
    array_bytes: int = 0
    load: str = ""

    @property
    def unit(self) -> str:
        return UNITS[self.metric]

    @property
    def qualifiers(self) -> dict[str, str]:
        """What the value answers besides its metric, as a spec line writes it."""
        size = str(self.array_bytes) if self.array_bytes else ""
        every = {
            "array_bytes": size,
            "cache": self.cache,
            "dtype": self.dtype,
            "load": self.load,
        }
        return {key: value for key, value in every.items() if value}


@dataclass(frozen=True, slots=True)
class Result:
    """All of one run. device: "cpu" or "cuda:<index>"; measured_at: UTC, ISO 8601.

    busy_share: of the CPU time, that others took meanwhile; None where it was not watched.
    """

    device: str
    name: str
    host: str
    measured_at: str
    command: str
    versions: Mapping[str, str]
    clocks: Mapping[str, str]
    samples: tuple[Sample, ...]
    ceilings: tuple[MeasuredCeiling, ...]
    notes: tuple[str, ...] = ()
    busy_share: float | None = None


def highest(
    samples: Iterable[Sample], metric: str, dtype: str = "", load: str = "", *, cache: str = ""
) -> MeasuredCeiling | None:
    """The ceiling of one metric, dtype and load over its samples; None where there are none."""
    asked = (metric, dtype, load)
    found = [s for s in samples if (s.metric, s.dtype, s.load) == asked]
    if not found:
        return None
    return ceiling_of(max(found, key=lambda sample: sample.best), cache=cache)


def ceiling_of(sample: Sample, *, cache: str = "", array_bytes: int = 0) -> MeasuredCeiling:
    """The best rate of one sample, as the answer to the question that the qualifiers make.

    Its basis is how the sample was taken: "streaming, 2 threads, arrays of 512 MiB, best of 9".
    """
    parts = [sample.method]
    if sample.threads:
        parts.append(f"{sample.threads} thread{'s' if sample.threads > 1 else ''}")
    if sample.array_bytes:
        parts.append(f"arrays of {sample.array_bytes / 2**20:g} MiB")
    basis = f"{', '.join(parts)}, best of {len(sample.rates)}"
    facts = (sample.metric, sample.dtype, sample.best, sample.median, basis)
    return MeasuredCeiling(*facts, cache, array_bytes, sample.load)


def dump(result: Result) -> str:
    """Serialise to JSON."""
    return json.dumps(asdict(result), allow_nan=False, indent=1)


def load(text: str) -> Result:
    """Read what `dump` wrote. CeilingsError says that it is something else."""
    try:
        value: dict[str, Any] = json.loads(text)
        taken = value.pop("samples")
        samples = tuple(Sample(**(item | {"rates": tuple(item["rates"])})) for item in taken)
        ceilings = tuple(MeasuredCeiling(**item) for item in value.pop("ceilings"))
        notes = tuple(value.pop("notes"))
        return Result(**value, samples=samples, ceilings=ceilings, notes=notes)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CeilingsError(f"not the output of a ceilings run: {error!r:.120}") from None
