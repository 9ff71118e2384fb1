"""Read a candidate's machine code, beside a measurement and never in its time."""

from __future__ import annotations

from dataclasses import replace

from campaigns.devices.launch import Beat
from campaigns.devices.passport import Measurer
from campaigns.evaluator.contract import Job, MachineCode


def machine_code(job: Job, service: Measurer, beat: Beat | None = None) -> MachineCode:
    """What the job's candidate becomes when it is built for the job's target.

    Triton's compiler needs no device, so none is used. Where nothing can be read the note says why.
    What `beat` raises is passed on.
    """
    device = "cpu" if job.backend == "triton" else job.device
    first = job.cases[:1]
    asked = replace(job, incumbent=None, timed=False, read_code=True, device=device, cases=first)
    report = service.evaluate(asked, beat)
    return report.machine_code or MachineCode("", note=report.reason)
