"""With which compiler and driver an evaluation was measured."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.models import Evaluation

COMPILER, DRIVER = "compiler", "driver"
# The compiler in a stored evaluation, for a query that should not read every sample.
COMPILER_PATH = f"report__environment__{COMPILER}"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MeasuredOn:
    """Versions as they call themselves; "" where nothing says."""

    compiler: str = ""
    driver: str = ""


def measured_on(evaluation: Evaluation) -> MeasuredOn:
    """By the report's environment; else the driver that the worker runs under."""
    told = evaluation.report.get("environment") or {}
    driver = str(told.get(DRIVER) or "")
    worker = evaluation.worker
    if driver in ("", UNKNOWN) and worker is not None:
        driver = str(worker.versions.get(DRIVER) or "")
    return MeasuredOn(str(told.get(COMPILER) or ""), driver)
