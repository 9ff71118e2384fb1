"""Hosts that have only some layers: an evaluation on them, without a service."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from campaigns.evaluator.contract.files import dump
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.sandbox.processes import adopt_orphans
from campaigns.evaluator.service.supervisor import Outside, supervise


def whole() -> None:
    """Spoil nothing."""


def without(plan: SandboxPlan, *layers: Layer) -> SandboxPlan:
    holds = {layer: detail for layer, detail in plan.holds.items() if layer not in layers}
    return replace(plan, holds=holds, lacks=dict.fromkeys(layers, "taken away for a test"))


def supervise_one(
    job_file: Path, policy: Policy, broken: Callable[[], None], report_file: Path
) -> None:
    """Write the report of one job; in a process of its own, all whose children this ends."""
    broken()
    adopt_orphans()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        outside = Outside(theirs, lambda device: None, policy, os.memfd_create("starting"), 0)
        report = supervise(job_file, "cpu", outside, None)
        report_file.write_text(dump(report))
