"""AMD's cards: which there are and what uses them, from the JSON of `amd-smi` or else `rocm-smi`.

The parsers are pure. Both programs changed their form more than once: a number stands alone, as
text, or in {"value": …, "unit": …}, an unknown value is "N/A" or missing, and newer ones put the
list of cards into {"gpu_data": […]}.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.rules.noise.device_gate import MIB, Activity

LIMIT_S = 10.0
UNITS = {"B": 1, "KB": 1 << 10, "MB": MIB, "GB": 1 << 30}
AMD_SMI = (("list",), ("metric", "--usage", "--mem-usage"), ("process",))
AMD_SMI_CARDS = (("list",), ("static", "--asic", "--vram"))
ROCM_SMI_CARDS = ("--showbus", "--showproductname", "--showuniqueid", "--showmeminfo", "vram")
ROCM_SMI = ("--showbus", "--showuse", "--showmeminfo", "vram", "--showpids")


@dataclass(frozen=True, slots=True)
class AmdCard:
    """place: among AMD's cards, as the program counts. target: such as "gfx942", or "" if unknown.

    uuid: the program's own; its address on the bus where that is unknown.
    """

    place: int
    pci_bus: str
    uuid: str
    name: str
    target: str
    memory_bytes: int


def cards() -> list[AmdCard]:
    """The cards that a program lists; none where there is no program."""
    if shutil.which("amd-smi"):
        found = parse_amd_cards(*(_ask("amd-smi", *words, "--json") for words in AMD_SMI_CARDS))
        if found:
            return found
    if shutil.which("rocm-smi"):
        return parse_rocm_cards(_ask("rocm-smi", *ROCM_SMI_CARDS, "--json"))
    return []


def parse_amd_cards(listed: str, static: str) -> list[AmdCard]:
    """From the two calls of `AMD_SMI_CARDS`; a card without an address is left out."""
    known = {card.get("gpu"): card for card in _cards(static)}
    found = []
    for row in _cards(listed):
        place, bus = row.get("gpu"), _told(row, "bdf")
        if isinstance(place, int) and bus:
            more = known.get(place, {})
            name = _told(more, "asic", "market_name") or "AMD GPU"
            target = _told(more, "asic", "target_graphics_version")
            size = int(_number(_inside(more, "vram", "size"), "MB") or 0)
            found.append(AmdCard(place, bus, _told(row, "uuid") or bus, name, target, size))
    return found


def parse_rocm_cards(text: str) -> list[AmdCard]:
    """From one call with `ROCM_SMI_CARDS`; a card without an address is left out."""
    found = []
    for place, row in sorted(_rocm_cards(_object(text)).items()):
        if bus := _told(row, "PCI Bus"):
            uuid = _told(row, "Unique ID") or bus
            name = _told(row, "Card Series") or _told(row, "Card series") or "AMD GPU"
            size = int(_number(_inside(row, "VRAM Total Memory (B)")) or 0)
            found.append(AmdCard(place, bus, uuid, name, _told(row, "GFX Version"), size))
    return found


def look(pci_bus: str) -> Activity | None:
    """The use of the card at this address of the PCI bus; None where no program lists it."""
    found = None
    if shutil.which("amd-smi"):
        listed, metric, process = (_ask("amd-smi", *words, "--json") for words in AMD_SMI)
        found = parse_amd_smi(listed, metric, process, pci_bus)
    if found is None and shutil.which("rocm-smi"):
        found = parse_rocm_smi(_ask("rocm-smi", *ROCM_SMI, "--json"), pci_bus)
    return found


def parse_amd_smi(listed: str, metric: str, process: str, pci_bus: str) -> Activity | None:
    """From the three calls of `AMD_SMI`; None where the card is not listed."""
    here = [card for card in _cards(listed) if same_bus(str(card.get("bdf", "")), pci_bus)]
    place = here[0].get("gpu") if here else None
    if place is None:
        return None
    seen = next((card for card in _cards(metric) if card.get("gpu") == place), {})
    rows = [card.get("process_list") for card in _cards(process) if card.get("gpu") == place]
    busy = _number(_inside(seen, "usage", "gfx_activity"))
    used = _number(_inside(seen, "mem_usage", "used_vram"), "MB")
    return Activity(
        _processes(rows[0]) if rows else None, busy, None if used is None else int(used)
    )


def parse_rocm_smi(text: str, pci_bus: str) -> Activity | None:
    """From one call with `ROCM_SMI`; None where the card is not listed.

    It gives how many cards a process uses, but not which: of several cards one cannot be said to
    be free as long as there is any.
    """
    told = _object(text)
    cards = _rocm_cards(told)
    rows = [row for row in cards.values() if same_bus(str(_inside(row, "PCI Bus")), pci_bus)]
    if not rows:
        return None
    pids = []
    system = told.get("system")
    # {"PID4711": "name, cards, memory, …"}: those that use a card.
    for name, row in system.items() if isinstance(system, dict) else ():
        pid = re.fullmatch(r"PID(\d+)", name)
        fields = [field.strip() for field in str(row).rsplit(",", 4)]
        if pid and not (len(fields) == 5 and fields[1] == "0"):
            pids.append(int(pid[1]))
    used = _number(_inside(rows[0], "VRAM Total Used Memory (B)"))
    return Activity(
        tuple(sorted(pids)) if len(cards) == 1 or not pids else None,
        _number(_inside(rows[0], "GPU use (%)")),
        None if used is None else int(used),
    )


def same_bus(one: str, other: str) -> bool:
    """Whether two addresses are one: drivers write the domain with four digits or eight, or not."""

    def short(address: str) -> str:
        parts = address.lower().split(":")
        domain = parts[0] if len(parts) == 3 and re.fullmatch("[0-9a-f]+", parts[0]) else "0"
        return ":".join([f"{int(domain, 16):x}", *parts[-2:]])

    return bool(one) and short(one) == short(other)


def _ask(*command: str) -> str:
    """What the program says; empty when it fails, as its own words are no answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _json(text: str) -> Any:
    """The first JSON value in the text: the programs print warnings before it, and after it."""
    start = re.search(r"^\s*[\[{]", text, re.MULTILINE)
    try:
        return json.JSONDecoder().raw_decode(text, start.end() - 1)[0] if start else None
    except json.JSONDecodeError:
        return None


def _object(text: str) -> Mapping[str, Any]:
    found = _json(text)
    return found if isinstance(found, dict) else {}


def _cards(text: str) -> list[Mapping[str, Any]]:
    found = _json(text)
    rows = found.get("gpu_data") if isinstance(found, dict) else found
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _rocm_cards(told: Mapping[str, Any]) -> dict[int, Any]:
    """Number → the fields of the card; `rocm-smi` names them card0, card1, …"""
    named = ((re.fullmatch(r"card(\d+)", name), row) for name, row in told.items())
    return {int(number[1]): row for number, row in named if number}


def _inside(row: Any, *names: str) -> Any:
    for name in names:
        row = row.get(name) if isinstance(row, dict) else None
    return row


def _told(row: Any, *names: str) -> str:
    """A text; empty where it is unknown."""
    found = _inside(row, *names)
    return "" if found in (None, "", "N/A") else str(found)


def _number(value: Any, unit: str = "B") -> float | None:
    """A number in any of the forms, in bytes where its unit is one of memory; None if unknown."""
    if isinstance(value, dict):
        value, unit = value.get("value"), str(value.get("unit", unit))
    try:
        return float(value) * UNITS.get(unit, 1)
    except (TypeError, ValueError):
        return None


def _processes(rows: Any) -> tuple[int, ...] | None:
    """None where one of them is not to be read."""
    if not isinstance(rows, list):
        return None
    pids = []
    for info in (_inside(row, "process_info") for row in rows):
        if not (isinstance(info, str) and info.lower().startswith("no running process")):
            pids.append(_number(_inside(info, "pid")))
    known = [int(pid) for pid in pids if pid is not None]
    return tuple(sorted(known)) if len(known) == len(pids) else None
