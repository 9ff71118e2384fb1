"""Run a candidate under sanitizers, outside of the measured time."""

from __future__ import annotations

from dataclasses import replace

from campaigns.devices.launch import Beat
from campaigns.devices.passport import Measurer
from campaigns.evaluator.contract import Job, Sanitized


def sanitize(job: Job, service: Measurer, beat: Beat | None = None) -> tuple[Sanitized, ...]:
    """What the sanitizers of this host say of the job's candidate on its smallest case.

    Where they could not be run at all, that is the one thing said. What `beat` raises is passed on.
    """
    asked = replace(job, incumbent=None, timed=False, sanitize=True)
    report = service.evaluate(asked, beat)
    return report.sanitized or (Sanitized("sanitizers", False, note=report.reason),)
