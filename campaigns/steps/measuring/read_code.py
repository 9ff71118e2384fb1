"""Read the machine code of a candidate, outside of the measured time."""

from __future__ import annotations

from dataclasses import replace

from campaigns.devices.launch import Beat
from campaigns.devices.passport import Measurer
from campaigns.evaluator.contract import Job, MachineCode

LEAST_SLOTS = 2


def read_code(job: Job, service: Measurer, beat: Beat | None = None) -> MachineCode:
    """What the job's candidate becomes when it is built for the job's target.

    Triton's compiler needs no device, so none is used. Where nothing can be read the note says why.
    What `beat` raises is passed on.
    """
    report = service.evaluate(
        replace(
            job,
            incumbent=None,
            timed=False,
            read_code=True,
            device="cpu" if job.backend == "triton" else job.device,
            cases=job.cases[:1],
            # Nothing is called, so there is no need of much memory to call it on.
            protocol=replace(job.protocol, max_slots=LEAST_SLOTS),
        ),
        beat,
    )
    return report.machine_code or MachineCode("", note=report.reason)
