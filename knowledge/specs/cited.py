"""A number together with the line it rests on: the only form in which facts leave this app."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

UNKNOWN = "UNKNOWN (gpu-wiki not found)"  # what every page and command prints for a missing fact
UNKNOWN_VALUE = "UNKNOWN"  # nothing found yet; the note says how to obtain it
ABSENT_VALUE = "NONE"  # the source says that the part does not have it; the note says how


def is_known(shown: str) -> bool:
    """Whether what a line states is a value at all, and neither UNKNOWN nor NONE."""
    return shown not in (UNKNOWN_VALUE, ABSENT_VALUE)


class EvidenceClass(StrEnum):
    """How a value came to be known."""

    DOCUMENTED = "documented"
    DERIVED = "derived"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Cited:
    """One cited value.

    `value` is in the canonical `unit` ("B/s", "op/s", "B", "Hz", "W", "count", …); `display` is
    the value as its line writes it ("4.8 TB/s"); `citation` is the full citation line and `href`
    the address in this application that opens the pinned revision at that line. `evidence` is one
    of the values of `Evidence`, a plain string so that the record survives JSON. `load` is "burst"
    or "sustained" where the two were told apart.
    """

    metric: str
    value: float
    unit: str
    evidence: str
    citation: str
    href: str
    display: str
    load: str = ""

    @property
    def told(self) -> str:
        """The value, and under which load it was measured where both were: "783 TFLOPS (burst)"."""
        return f"{self.display} ({self.load})" if self.load else self.display

    @property
    def words(self) -> str:
        """For a share of it: "the measured 4.26 TB/s", "the measured 783 TFLOPS (burst)"."""
        return f"the {self.evidence} {self.told}"
