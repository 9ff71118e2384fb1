"""One table of counters for all vendors: a name of ours finds unit, meaning, bounds (R24).

A name means the same wherever it is known, so one rule reads the counters of every vendor. What a
vendor's hardware does not count is not in its registry: `metric_of` says so.

A new counter is a row in `nvidia` or `amd`: under the name that the other vendor has for it, where
it means the same, and under a name of its own where it does not. What a rule may read, a profiler
is asked for and a reader finds by these rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from campaigns.profiles import amd, nvidia, perf
from campaigns.profiles.kernel_profile import Metric, Unit, Vendor

REGISTRIES: Mapping[Vendor, Mapping[str, Metric]] = {
    Vendor.NVIDIA: nvidia.METRICS,
    Vendor.AMD: amd.METRICS,
    Vendor.CPU: perf.METRICS,
}
# NVIDIA's, by the names of ours.
METRICS = nvidia.METRICS
# What `ncu --metrics` is asked for: everything that a rule reads.
DEFAULT_COUNTERS = tuple(one.counter for one in METRICS.values())
# Stalls of any vendor, each once. A warp that was ready and not selected is none.
STALLS = tuple(dict.fromkeys(one.name for one in (*nvidia.STALLS, *amd.STALLS)))
# What ncu calls a unit → ours, and what to multiply by.
SCALES: dict[str, tuple[Unit, float]] = {
    "%": (Unit.PERCENT, 1.0),
    **dict.fromkeys(("ns", "nsecond"), (Unit.US, 0.001)),
    **dict.fromkeys(("us", "usecond"), (Unit.US, 1.0)),
    **dict.fromkeys(("ms", "msecond"), (Unit.US, 1000.0)),
    **dict.fromkeys(("s", "second"), (Unit.US, 1000000.0)),
    **dict.fromkeys(("byte", "byte/block"), (Unit.BYTES, 1.0)),
    **dict.fromkeys(("Kbyte", "Kbyte/block"), (Unit.BYTES, 1000.0)),
    "Mbyte": (Unit.BYTES, 1e6),
    "Gbyte": (Unit.BYTES, 1e9),
}


def metric_words(name: str, value: float, vendor: Vendor = Vendor.NVIDIA) -> str:
    """The value with its unit and meaning. Raises UnknownMetricError."""
    return f"{value_words(name, value, vendor)} {metric_of(name, vendor).meaning}"


def value_words(name: str, value: float, vendor: Vendor = Vendor.NVIDIA) -> str:
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} {metric_of(name, vendor).unit}".rstrip()


def waits_for(stall: str, vendor: Vendor) -> str:
    """What a stall is waited for, without who waits; a stall that is no metric by its name."""
    known = REGISTRIES[vendor].get(stall)
    return known.meaning.partition(" that wait ")[2] if known else stall


class UnknownMetricError(KeyError):
    """A name that a vendor's hardware does not count; nothing stands in for it."""

    def __init__(self, name: str, vendor: Vendor) -> None:
        others = [each.value for each, known in REGISTRIES.items() if name in known]
        where = f"; {' and '.join(others)} has it" if others else ""
        self.words = f"metric {name!r}: not counted on {vendor}{where}"
        super().__init__(self.words)

    def __str__(self) -> str:
        return self.words


def metric_of(name: str, vendor: Vendor = Vendor.NVIDIA) -> Metric:
    """The counter that has this name of ours on this vendor's cards. Raises UnknownMetricError."""
    try:
        return REGISTRIES[vendor][name]
    except KeyError:
        raise UnknownMetricError(name, vendor) from None
