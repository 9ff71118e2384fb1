"""Measure a device's ceilings in a process of its own and store them as a cited wiki document."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from campaigns.devices.discover import Device, ensure_platform, platform_facts
from campaigns.devices.hold import hold
from campaigns.devices.launch import InterpreterFailed, ask_interpreter
from campaigns.evaluator.contract.ceilings import CeilingsError, Result, load, to_markdown
from knowledge.exchange.importer import MEASURED, write_measured_document
from knowledge.models import Revision

LIMIT_S = 300
HOLD_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The stored document, and what weakens its ceilings: each note is one line of it, too."""

    revision: Revision
    notes: tuple[str, ...]


def measure_ceilings(device: Device) -> Measured:
    """Measure now, store `docs/measured/<platform>.md`, answer its newest revision.

    Raises CeilingsError when it cannot be measured and DeviceBusy when another process holds the
    device; then nothing is stored.
    """
    platform = ensure_platform(device)
    with hold(device, wait_s=HOLD_WAIT_S):
        result = run_ceilings(device.device)
    # A GPU's platform may come from a wiki document; only that one may describe it.
    block = str(platform_facts(device)) if device.kind == "cpu" else f"- platform: {platform.slug}"
    path = f"{MEASURED}{platform.slug}.md"
    return Measured(write_measured_document(path, to_markdown(result, block)), result.notes)


def run_ceilings(device: str) -> Result:
    """The measurement itself: a fresh interpreter, so that this process never starts CUDA."""
    arguments = ["-m", "campaigns.evaluator.ceilings", "--device", device, "--json"]
    try:
        return load(ask_interpreter(arguments, LIMIT_S))
    except subprocess.TimeoutExpired:
        raise CeilingsError(f"{device}: not measured within {LIMIT_S} s") from None
    except InterpreterFailed as error:
        raise CeilingsError(str(error).removeprefix("ceilings: ")) from None
