"""Assembly of AMD's GPUs as LLVM prints it, as functions with their instructions counted by kind.

The format is that of "AMDGPU Usage" (llvm.org/docs/AMDGPUUsage.html): directives, labels, a place
of the source after `.loc`, and the metadata of code object version 5 at the end. As of any listing
no text makes it raise, or take more than a time that grows with its length.
"""

from __future__ import annotations

import re

from campaigns.evaluator.contract import Function, Resources
from campaigns.evaluator.machine_code import gcn
from campaigns.evaluator.machine_code.counting import FunctionCounts, most
from campaigns.evaluator.machine_code.listing import LAUNCHED_LINE

_KERNEL = re.compile(r"\s*\.type\s+(\S+),@function")
_PLACE = re.compile(r"\bcandidate\.\w+:(\d{1,9}):")
_END = ".Lfunc_end"
# Fills the cache line behind the last instruction.
_FILL = "s_code_end"
_METADATA_END = ".end_amdgpu_metadata"
# A key of a kernel; those of its arguments stand further in.
_KEY = re.compile(r" {2}(- | {2})\.(\w+):\s+(\S+)")
_NUMBERS = {
    "registers": "vgpr_count",
    "accumulators": "agpr_count",
    "scalars": "sgpr_count",
    "spilled": "vgpr_spill_count",
    "stack_bytes": "private_segment_fixed_size",
    "shared_bytes": "group_segment_fixed_size",
    "threads": "max_flat_workgroup_size",
}


def amd_functions(text: str) -> tuple[Function, ...]:
    """At most as many as of any listing, those with most instructions first."""
    found: list[FunctionCounts] = []
    current: FunctionCounts | None = None
    # name: of a function whose label is still to come. fresh: those whose metadata is.
    name, fresh, dynamic_bytes = "", list[FunctionCounts](), 0
    kernels: list[dict[str, str]] = []
    for line in text.split("\n")[:-1]:
        if kernel := _KERNEL.fullmatch(line):
            name = kernel[1]
        elif name and line.startswith(f"{name}:"):
            current = FunctionCounts(name)
            found.append(current)
            fresh.append(current)
            name = ""
        elif line.startswith(_END):
            current = None
        elif current is not None:
            _read_line(current, line)
        elif launched := LAUNCHED_LINE.fullmatch(line):
            dynamic_bytes = int(launched[2])
        elif key := _KEY.fullmatch(line):
            kernels += [{}] if key[1].strip() or not kernels else []
            kernels[-1][key[2]] = key[3]
        elif line.strip() == _METADATA_END:
            for one in fresh:
                told = next((k for k in kernels if k.get("name") == one.name), None)
                one.resources = _resources(told, dynamic_bytes) if told else None
            fresh, kernels, dynamic_bytes = [], [], 0
    return most(found)


def _read_line(current: FunctionCounts, line: str) -> None:
    """One line of a function's body: an instruction, a place, a label or a directive."""
    text = line.strip()
    if text.startswith(".loc"):
        places = _PLACE.findall(text)
        current.line = int(places[0]) if places else 0
        return
    mnemonic, operands = gcn.parted(text)
    if not mnemonic or mnemonic.endswith(":") or mnemonic.startswith((".", _FILL)):
        return
    kind = gcn.kind_of(mnemonic, operands)
    current.add(kind, f"{mnemonic} {operands}", nbytes=gcn.moved_bytes(mnemonic))


def _resources(told: dict[str, str], dynamic_bytes: int) -> Resources:
    numbers = {
        field: int(value)
        for field, key in _NUMBERS.items()
        if (value := told.get(key, ""))[:9].isdecimal() and len(value) < 10
    }
    shared_bytes = numbers.pop("shared_bytes", 0) + dynamic_bytes
    return Resources(**numbers, shared_bytes=shared_bytes)
