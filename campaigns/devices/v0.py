"""The shipped v0 of a problem as an evaluation job; what benchmarks of measuring itself run."""

from __future__ import annotations

from pathlib import Path

from campaigns.devices.discover import Device
from campaigns.evaluator.contract import Job, Protocol, Source
from campaigns.evaluator.problem import ProblemSpec

CPU_PROTOCOL = Protocol(blocks=5, burst_ms=10, max_slots=64, arena_mib=1024, trials=1)
GPU_PROTOCOL = Protocol(blocks=5, trials=1)


def v0_job(
    device: Device, spec: ProblemSpec, backend: str, scratch: Path, protocol: Protocol
) -> Job:
    """v0 against itself on every case of the device's kind."""
    name = spec.files[backend]
    source = Source(name, (spec.folder / name).read_text(), spec.flags.get(backend, ()))
    return Job(
        job_id=scratch.name,
        problem=spec.folder,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=tuple(case.case for case in spec.cases_of(backend, device.kind)),
        candidate=source,
        incumbent=source,
        scratch=scratch,
        protocol=protocol,
    )
