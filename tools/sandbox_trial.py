"""Which layers of the sandbox CUDA works under, tried on a real card, as a table.

`python -m tools.sandbox_trial` on a host with an NVIDIA card, nvcc and Triton, as root and again as
an ordinary user. Each row is an ordinary evaluation of a shipped kernel with these layers alone.
`refused` lists what driver, Triton or tracer tried in vain: none of it is the candidate's.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from campaigns.evaluator.backends import base
from campaigns.evaluator.contract import Job, Limits, Protocol, Report, Source, dump, load_report
from campaigns.evaluator.problem import load_problem
from campaigns.evaluator.processes import adopt_orphans
from campaigns.evaluator.sandbox import probe
from campaigns.evaluator.sandbox.layers import Layer, Plan
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.service.supervisor import Outside, supervise

PROBLEM = Path(__file__).parents[1] / "campaigns" / "problems" / "vector_add"
LATE = frozenset({Layer.UID, Layer.CAPABILITIES, Layer.LANDLOCK, Layer.SECCOMP, Layer.AUDIT})
ALWAYS = frozenset({Layer.USER})
PROTOCOL = Protocol(blocks=1, burst_ms=1, max_slots=64, trials=2, limits=Limits(total_s=120))


def rows(has: frozenset[Layer]) -> Mapping[str, frozenset[Layer]]:
    """Sets of layers by name: each early one alone, then together, then what comes on top."""
    early = has - LATE - ALWAYS
    alone = {f"{layer} alone": frozenset({layer}) for layer in Layer if layer in early}
    return {
        "nothing": frozenset(),
        **alone,
        "early": early,
        "late alone": has & LATE,
        "all": has,
        "all but ipc": has - {Layer.IPC},
        "all but processes": has - {Layer.PROCESSES},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--backends", nargs="+", default=["cuda", "triton"])
    parser.add_argument("--target", help="what nvcc builds for; default: asked of nvidia-smi")
    parser.add_argument("--json", type=Path, help="a file for all reports")
    options = parser.parse_args()
    kind = "cuda" if options.device.startswith("cuda") else "cpu"
    plan = probe.plan_for(kind)
    plan = replace(plan, lacks={})
    print(f"this host has: {', '.join(plan.holds)}", flush=True)
    importlib.import_module("campaigns.evaluator.judge.session")
    base.every()
    target = options.target or _target(kind)
    reports = {}
    print(
        f"{'layers':26} {'backend':8} {'outcome':12} {'start s':>8} {'total s':>8}  what was said"
    )
    for name, layers in rows(frozenset(plan.holds)).items():
        for backend in options.backends:
            with tempfile.TemporaryDirectory(prefix="kopt-trial-") as folder:
                job = _job(backend, options.device, target, Path(folder))
                report = _evaluate(job, _with(plan, layers | ALWAYS))
            reports[f"{name}, {backend}"] = json.loads(dump(report))
            print(_row(name, backend, report), flush=True)
    if options.json:
        options.json.write_text(json.dumps(reports, indent=1))
    return 0


def _with(plan: Plan, layers: frozenset[Layer]) -> Plan:
    # An ordinary user may mount a /proc of its own PID namespace only.
    if not plan.root and Layer.PROCESSES not in layers:
        layers -= {Layer.PROC}
    return replace(plan, holds={k: v for k, v in plan.holds.items() if k in layers})


def _target(kind: str) -> str:
    if kind == "cpu":
        return "native"
    asked = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0]
    digits = said.replace(".", "")
    return f"sm_{digits}a" if digits == "90" else f"sm_{digits}"


def _job(backend: str, device: str, target: str, folder: Path) -> Job:
    spec = load_problem(PROBLEM)
    path = PROBLEM / spec.files[backend]
    source = Source(path.name, path.read_text())
    kind = "gpu" if device.startswith("cuda") else "cpu"
    return Job(
        job_id="trial",
        problem=PROBLEM,
        backend=backend,
        device=device,
        target=target,
        cases=(spec.cases_on(kind)[0].case,),
        candidate=source,
        incumbent=source,
        scratch=folder,
        protocol=PROTOCOL,
    )


def _evaluate(job: Job, plan: Plan) -> Report:
    """In a process of its own: a supervisor ends all children, and nothing here may touch CUDA."""
    job_file = job.scratch / "job.json"
    job_file.write_text(dump(job))
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            try:
                adopt_orphans()
                outside = Outside(theirs, lambda device: None, Policy(_plans={plan.kind: plan}))
                text = dump(supervise(job_file, job.device, outside, None))
                os.pwrite(file.fileno(), text.encode(), 0)
            finally:
                os._exit(0)
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(0.02)
        return load_report(file.read().decode())


def _row(name: str, backend: str, report: Report) -> str:
    start, total = (report.wall_s.get(phase, 0.0) for phase in ("start", "total"))
    refused = report.environment.get("refused", "")
    said = report.reason if report.outcome != "passed" else f"refused: {refused or 'nothing'}"
    times = [c.candidate.device_us for c in report.cases if c.candidate and c.candidate.device_us]
    said += f"; device {times[0]:.2f} µs" if times else ""
    return f"{name:26} {backend:8} {report.outcome:12} {start:8.2f} {total:8.2f}  {said}"


if __name__ == "__main__":
    sys.exit(main())
