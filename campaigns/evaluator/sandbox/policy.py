"""What this host's sandbox has to be, and what it is.

Of several GPUs a runner has the node of its own card, and CUDA shows it no other.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from campaigns.evaluator.sandbox import probe
from campaigns.evaluator.sandbox.layers import FOR_FOREIGN_PROBLEMS, SandboxPlan

# Of what a command prints, the first and the end are kept.
TABLE_BYTES = 4 << 20
LOG_BYTES = 64 * 1024
DEV = Path("/dev")
NODE = re.compile(r"nvidia\d+")
# What CUDA calls the first card that it is shown.
FIRST = "cuda:0"


@dataclass(frozen=True, slots=True)
class Order:
    """folder: holds `tree`, where the command runs, and `home`. kind: of device, "cpu" or "cuda".

    extra: more folders to read, whose programs come first. total_s: how long it may take, and with
    every core busy. memory_bytes: what all its processes may take, its files among it; 0 for half
    of this host's. disk_bytes: of the folder.
    """

    folder: str
    command: str
    kind: str
    total_s: float
    memory_bytes: int
    disk_bytes: int
    require_all: bool
    extra: tuple[str, ...] = ()


@dataclass(slots=True)
class Told:
    """What is known of a command. locked: it was begun. broken: why this host cannot run it.

    late: it took too long. over: which limit it went over, as the rest of a sentence.
    """

    locked: bool = False
    broken: str = ""
    late: bool = False
    over: str = ""

    @classmethod
    def read(cls, lines: bytes) -> Self:
        found: dict[str, Any] = {}
        for line in lines.splitlines():
            found |= json.loads(line)
        return cls(**found)


@dataclass(frozen=True, slots=True)
class CardNode:
    """uuid: the driver's name of it. minor: its node is /dev/nvidia<minor>; None where not told."""

    uuid: str
    minor: int | None

    @property
    def node(self) -> Path | None:
        """What opens this card; None where that is not known on this host."""
        node = DEV / f"nvidia{self.minor}"
        return node if node.is_char_device() else None


def own_nodes(card: CardNode, nodes: Iterable[Path]) -> tuple[Path, ...]:
    """Without those of other cards; all of them where the card's own is not among them.

    What is common to all cards (nvidiactl, nvidia-uvm) opens none: the driver wants the card's own
    node for that, which is how containers are kept to theirs as well.
    """
    listed = tuple(nodes)
    if card.node not in listed:
        return listed
    return tuple(node for node in listed if node == card.node or not _opens_a_card(node))


def several(nodes: Iterable[Path]) -> bool:
    """Whether these nodes open more than one card."""
    return sum(map(_opens_a_card, nodes)) > 1


def take_card(device: str, uuid: str) -> str:
    """Let CUDA, which has not started in this process, see one card; what to call it from now on.

    uuid: "" for a device that is no card, or one that the driver does not name.
    """
    if not uuid:
        return device
    os.environ["CUDA_VISIBLE_DEVICES"] = uuid
    return FIRST


def _opens_a_card(node: Path) -> bool:
    return node.parent == DEV and NODE.fullmatch(node.name) is not None


@dataclass(slots=True)
class Policy:
    """require_all: refuse all work when a layer is missing. memory_bytes: of one runner; 0: half.

    cards: which card is meant by "cuda:0" and so on; a runner of one that is not told sees all.
    Crosses to the service as one line of JSON.
    """

    require_all: bool = False
    memory_bytes: int = 0
    cards: Mapping[str, CardNode] = field(default_factory=dict)
    _plans: dict[str, SandboxPlan] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Self:
        told = json.loads(text)
        told["cards"] = {device: CardNode(**card) for device, card in told["cards"].items()}
        return cls(**told)

    def line(self) -> str:
        told = {"require_all": self.require_all, "memory_bytes": self.memory_bytes}
        cards = {device: asdict(card) for device, card in self.cards.items()}
        return json.dumps(told | {"cards": cards})

    def examine(self) -> None:
        """Try the layers of every kind of device. Only in a process with one thread."""
        for kind in probe.KINDS:
            self._plans[kind] = probe.plan_for(kind, self.memory_bytes)

    def plan(self, device: str) -> SandboxPlan:
        plan = self._plans["cuda" if device.startswith("cuda") else "cpu"]
        card = self.cards.get(device)
        if card is None:
            return plan
        return replace(plan, devices=own_nodes(card, plan.devices), card=card.uuid)

    def reference_plan(self, device: str) -> SandboxPlan:
        """The plan for a problem's reference.

        It opens no memory through the host's /dev/shm, so that an ordinary user can give it a view
        of its own on a GPU, too.
        """
        plan = self.plan(device)
        if plan.kind != "cuda" or plan.root:
            return plan
        on_cpu = self._plans["cpu"]
        return replace(plan, holds=on_cpu.holds, lacks=on_cpu.lacks)

    def refusal_of_problem(self, device: str, *, shipped: bool) -> str:
        """Why a problem's code may not run here; "" when it may. shipped: it came with kopt."""
        holds = self.reference_plan(device).holds
        lacking = [layer for layer in FOR_FOREIGN_PROBLEMS if layer not in holds]
        if shipped or not lacking:
            return ""
        return (
            f"this host lacks {', '.join(lacking)}, without which the code of a problem that did "
            "not come with kopt is not run; `manage.py doctor` says how to get them"
        )

    def refusal(self, device: str) -> str:
        """Why nothing may run on `device`; "" when it may."""
        plan = self.plan(device)
        missing = (*plan.missing, *(["a node of this card alone"] if several(plan.devices) else []))
        if not self.require_all or not missing:
            return ""
        return (
            f"KOPT_SANDBOX=all: this host lacks {', '.join(missing)}; "
            "`manage.py doctor` says how to get them"
        )
