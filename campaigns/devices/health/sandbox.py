"""The layers between a candidate and this host, as the evaluator finds them; all really tried."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.health.finding import HealthFinding, State
from campaigns.devices.health.sanitizers import COSTS
from campaigns.devices.launch import InterpreterFailed, ask_interpreter
from campaigns.devices.nvml import visible_cards
from campaigns.evaluator.contract.programs import COMPUTE_SANITIZER
from campaigns.evaluator.contract.sandbox import CardNode, Layer, describe, wanted, words

LIMIT_S = 60.0


def examine_sandbox(devices: list[Device]) -> list[HealthFinding]:
    """What holds for each kind of device, each layer that is missing, and how memory is bounded."""
    kinds = sorted({"cuda" if device.kind == "gpu" else "cpu" for device in devices})
    try:
        said = ask_interpreter(["-m", "campaigns.evaluator.sandbox", *kinds], LIMIT_S)
    except (InterpreterFailed, subprocess.TimeoutExpired) as error:
        remedy = "run `python -m campaigns.evaluator.sandbox cpu` and read its output"
        return [
            HealthFinding("sandbox", State.REQUIRED, str(error), "no evaluation starts", remedy)
        ]
    listed = [finding for kind, found in json.loads(said).items() for finding in _of(kind, found)]
    return listed + _other_cards()


def _lacking() -> State:
    """What it means that something of the sandbox is missing."""
    return State.REQUIRED if settings.KOPT_SANDBOX == "ALL" else State.MISSING


def _of(kind: str, found: dict[str, Any]) -> list[HealthFinding]:
    """required: with KOPT_SANDBOX=all a missing layer stops all work on this kind of device."""
    lacking = _lacking()
    holds = {Layer(name): detail for name, detail in found["holds"].items()}
    lacks = {Layer(name): why for name, why in found["lacks"].items()}
    by = "a control group" if found["memory_by"] == "control group" else "watching it"
    bounds = f"{describe(holds) or 'nothing'}; memory {found['memory_mib']:,} MiB, kept by {by}"
    costs, remedy = "candidates run with the worker's rights", "see the layers below"
    state = State.OK if holds else lacking
    listed = [HealthFinding(f"sandbox, {kind}", state, bounds, costs, remedy)]
    root = found["root"]
    for layer, why in lacks.items():
        state = lacking if layer in wanted(root=root) else State.NOTE
        said = words(layer, kind, root=root)
        name = f"sandbox, {kind}: {layer}"
        listed.append(HealthFinding(name, state, why, said.costs, said.remedy))
    if why := found["no_sanitizers"]:
        name, remedy = f"sandbox, {kind}: sanitizers", "see the layers that are missing"
        listed.append(HealthFinding(name, State.MISSING, why, COSTS[COMPUTE_SANITIZER], remedy))
    return listed


def _other_cards() -> list[HealthFinding]:
    """Whether a runner on one of several GPUs can open the others."""
    cards = [CardNode(card.uuid, card.minor) for card in visible_cards()]
    if len(cards) < 2:
        return []
    name, open_ones = "sandbox, cuda: other cards", [card for card in cards if card.node is None]
    if not open_ones:
        return [
            HealthFinding(
                name, State.OK, f"a runner can open its own card only; cards here: {len(cards)}"
            )
        ]
    found = f"the driver names no device node for {', '.join(c.uuid for c in open_ones)}"
    costs = "a candidate can open other cards and disturb what is measured there"
    remedy = "give this container the nodes under the numbers that `nvidia-smi -q` lists as minor"
    return [HealthFinding(name, _lacking(), found, costs, remedy)]
