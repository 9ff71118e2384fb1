"""The text of a disassembler, as functions with their instructions counted by kind.

Formats: `objdump -d --no-show-raw-insn -C` of GNU binutils; `cuobjdump -sass` and `nvdisasm` of
NVIDIA's "CUDA Binary Utilities". What they read was made from a candidate, which may have written
anything into it: no text makes a function of this module raise, or take more than a time that
grows with its length, and what comes back is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from types import ModuleType

from campaigns.evaluator.contract import Function
from campaigns.evaluator.machine_code import aarch64, sass, x86
from campaigns.evaluator.machine_code.kinds import OpKind

MOST_FUNCTIONS = 64
MOST_CALLED = 16
NAME_CHARACTERS = 120
# Of the C library and of GCC, linked into every shared object.
LOADERS = frozenset(
    (
        *("_init", "_fini", "call_weak_fn", "deregister_tm_clones", "register_tm_clones"),
        *("__do_global_dtors_aux", "frame_dummy"),
    )
)

_HEAD = re.compile(r"[0-9a-f]{8,16} <(.+)>:")
_LINE = re.compile(r" *[0-9a-f]{1,16}:\t(.+)")
_SECTION = "Disassembly of section "
_DEVICE_LINE = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/\s+([^\s;][^;]*);")
_DEVICE_HEAD = re.compile(r"\s*Function : (.+)|\.text\.(.+):")
_DEVICE_LABEL = re.compile(r"(\S+):")


_FORMATS: dict[str, ModuleType] = {
    "elf64-x86-64": x86,
    "elf64-littleaarch64": aarch64,
    "elf64-bigaarch64": aarch64,
}


class _Counts:
    """A function while its lines are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kinds: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._widest = 0

    def add(self, kind: OpKind, called: str = "", load_bytes: int = 0) -> None:
        self._kinds[kind.value] += 1
        if called:
            self._calls[_shown(called)] += 1
        self._widest = max(self._widest, load_bytes)

    def function(self) -> Function:
        return Function(
            _shown(self.name),
            self._kinds.total(),
            dict(self._kinds),
            dict(self._calls.most_common(MOST_CALLED)),
            self._widest,
        )


def host_functions(text: str) -> tuple[Function, ...]:
    """Of objdump's listing: at most MOST_FUNCTIONS, those with most instructions first.

    Without what every shared object has, without padding, and without a last line that was cut.
    Nothing where the listing is of no x86-64 or AArch64 code.
    """
    machine: ModuleType | None = None
    found: list[_Counts] = []
    current: _Counts | None = None
    stubs = False
    for line in text.split("\n")[:-1]:
        if machine is None:
            machine = _FORMATS.get(line.rpartition("file format ")[2].strip())
        elif line.startswith(_SECTION):
            stubs, current = line.startswith(f"{_SECTION}.plt"), None
        elif head := _HEAD.fullmatch(line):
            ours = not stubs and head[1] not in LOADERS and "@plt" not in head[1]
            current = _Counts(head[1]) if ours else None
            found += [current] if current else []
        elif current and (told := _LINE.fullmatch(line)):
            _count_host(current, machine, told[1])
    return _most(found)


def _count_host(current: _Counts, machine: ModuleType, told: str) -> None:
    mnemonic, operands = machine.parted(told)
    # Directives are data between the code: ".word", ".inst".
    if mnemonic.startswith(".") or machine.is_padding(mnemonic, operands):
        return
    kind = machine.kind_of(mnemonic, operands)
    if kind is OpKind.CALL:
        # The name that the loader fills in: "call *0x2f8a(%rip)        # 3fd0 <expf@GLIBC_2.27>".
        comment = told.rpartition(" # ")[2]
        loaded = _target(comment) if "@" in comment else ""
        current.add(kind, _target(operands) or loaded)
        return
    called = _target(operands) if mnemonic == machine.JUMP else ""
    # A function's cold part is a piece of it that lies elsewhere.
    if called and called != current.name and ".cold" not in called:
        current.add(OpKind.CALL, called)
    else:
        current.add(kind)


def _target(operands: str) -> str:
    """The name in "1040 <fmaxf@plt>"; none where it is a place within a function."""
    _, _, named = operands.partition(" <")
    if not named.endswith(">"):
        return ""
    name = named[:-1]
    if name.rpartition("+0x")[1]:
        return ""
    return name.partition("@")[0]


def device_functions(text: str) -> tuple[Function, ...]:
    """Of the listing of a cubin, or of all that a shared object holds: bounded as the host's.

    Without what follows the last instruction: a branch to itself and NOPs, which nothing reaches.
    What the compiler puts behind a kernel, as a division's slow path, belongs to the kernel.
    """
    found: list[_Counts] = []
    current: _Counts | None = None
    # Counted once something follows that is none.
    padding: list[OpKind] = []
    label = ""
    for line in text.split("\n")[:-1]:
        if told := _DEVICE_LINE.match(line):
            mnemonic, operands = sass.parted(told[2])
            if current is None or mnemonic.startswith("."):
                continue
            kind = sass.kind_of(mnemonic)
            # A branch to itself, by address (cuobjdump) or by its label (nvdisasm).
            itself = (f"0x{told[1].lstrip('0') or '0'}", f"`({label})" if label else None)
            if mnemonic == "NOP" or (kind is OpKind.BRANCH and operands in itself):
                padding.append(kind)
            else:
                for skipped in padding:
                    current.add(skipped)
                padding = []
                current.add(kind, _device_target(kind, operands), sass.load_bytes(mnemonic))
            label = ""
        elif head := _DEVICE_HEAD.fullmatch(line):
            current = _Counts(head[1] or head[2])
            found.append(current)
            padding, label = [], ""
        elif named := _DEVICE_LABEL.fullmatch(line):
            label = named[1]
    return _most(found)


def _device_target(kind: OpKind, operands: str) -> str:
    """The name in "`($__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath)"; cuobjdump has none."""
    if kind is not OpKind.CALL:
        return ""
    called = operands.partition("`(")[2].rpartition(")")[0].rpartition("$")[2]
    # A label of no function's.
    return "" if called.startswith(".L_") else called


def _most(found: Iterable[_Counts]) -> tuple[Function, ...]:
    functions = [counts.function() for counts in found]
    functions.sort(key=lambda function: -function.instructions)
    return tuple(f for f in functions[:MOST_FUNCTIONS] if f.instructions)


def _shown(name: str) -> str:
    return "".join(c for c in name if c.isprintable())[:NAME_CHARACTERS]
