"""One GPU of several: a runner has the node of its own card, and CUDA shows it no other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DEV = Path("/dev")
NODE = re.compile(r"nvidia\d+")
# What CUDA calls the first card that it is shown.
FIRST = "cuda:0"


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


def take(device: str, uuid: str) -> str:
    """Let CUDA, which has not started in this process, see one card; what to call it from now on.

    uuid: "" for a device that is no card, or one that the driver does not name.
    """
    if not uuid:
        return device
    os.environ["CUDA_VISIBLE_DEVICES"] = uuid
    return FIRST


def _opens_a_card(node: Path) -> bool:
    return node.parent == DEV and NODE.fullmatch(node.name) is not None
