"""The text of a disassembler, as functions with their instructions counted by kind.

Formats: `objdump -d -l --no-show-raw-insn -C` of GNU binutils; `cuobjdump --dump-resource-usage`
and `nvdisasm -c -g` of NVIDIA's "CUDA Binary Utilities". What they read was made from a candidate,
which may have written anything into it: no text makes a function of this module raise, or take more
than a time that grows with its length, and what comes back is bounded.
"""

from __future__ import annotations

import re
from types import ModuleType

from campaigns.evaluator.contract import Function, Resources
from campaigns.evaluator.machine_code import aarch64, sass, x86
from campaigns.evaluator.machine_code.counting import FunctionCounts, most
from campaigns.evaluator.machine_code.kinds import OpKind

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
# The candidate's own file has this name, whatever people call it (builds/shared_object.py).
_HOST_PLACE = re.compile(r"\S*\bcandidate\.\w+:(\d{1,9})(?: \(discriminator \d+\))?")
_ANY_HOST_PLACE = re.compile(r"/\S*:\d+(?: \(discriminator \d+\))?")
_DEVICE_LINE = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/\s+([^\s;][^;]*);")
_DEVICE_HEAD = re.compile(r"\.text\.(.+):")
_DEVICE_LABEL = re.compile(r"(\S+):")
_DEVICE_PLACE = re.compile(r'"[^"]*\bcandidate\.\w+", line (\d{1,9})')
_PTX_HEAD = re.compile(r"(?:\.\w+ )*\.(?:entry|func) *(?:\([^()]*\) *)?([\w$.]+)")
_PTX_FILE = re.compile(r'\s*\.file\s+(\d+) "[^"]*\bcandidate\.\w+"')
_PTX_PLACE = re.compile(r"(?:\.loc|inlined_at)\s+(\d{1,9}) (\d{1,9})")
_PTX_TOLD = re.compile(r"\bcandidate\.\w+:(\d{1,9}):")
_PTX_LINE = re.compile(r"\s+((?:@!?%p\d+\s+)?[a-z][\w.:]*(?:\s[^;]*)?);")
_USED_BY = re.compile(r"\s*Function (\S+):")
_USED = re.compile(r"\s*REG:(\d{1,9}) STACK:(\d{1,9}) SHARED:(\d{1,9}) ")
# What a launch adds to it, as machine_code/read.py writes it before a kernel.
LAUNCHED = "# launched with {threads} threads and {shared_bytes} bytes"
LAUNCHED_LINE = re.compile(r"# launched with (\d{1,9}) threads and (\d{1,9}) bytes")

_FORMATS: dict[str, ModuleType] = {
    "elf64-x86-64": x86,
    "elf64-littleaarch64": aarch64,
    "elf64-bigaarch64": aarch64,
}


def host_functions(text: str) -> tuple[Function, ...]:
    """Functions of objdump's listing: at most MOST_FUNCTIONS, the longest first.

    Without what every shared object has, without padding, and without a last line that was cut.
    Nothing where the listing is of no x86-64 or AArch64 code.
    """
    machine: ModuleType | None = None
    found: list[FunctionCounts] = []
    current: FunctionCounts | None = None
    stubs = False
    for line in text.split("\n")[:-1]:
        if machine is None:
            machine = _FORMATS.get(line.rpartition("file format ")[2].strip())
        elif line.startswith(_SECTION):
            stubs, current = line.startswith(f"{_SECTION}.plt"), None
        elif head := _HEAD.fullmatch(line):
            ours = not stubs and head[1] not in LOADERS and "@plt" not in head[1]
            current = FunctionCounts(head[1]) if ours else None
            found += [current] if current else []
        elif current and (told := _LINE.fullmatch(line)):
            _count_host(current, machine, told[1])
        elif current and (place := _HOST_PLACE.fullmatch(line)):
            current.line = int(place[1])
        elif current and _ANY_HOST_PLACE.fullmatch(line):
            # Of a header: not a line of the candidate's.
            current.line = 0
    return most(found)


def _count_host(current: FunctionCounts, machine: ModuleType, told: str) -> None:
    mnemonic, operands = machine.parted(told)
    # Directives are data between the code: ".word", ".inst".
    if mnemonic.startswith(".") or machine.is_padding(mnemonic, operands):
        return
    kind = machine.kind_of(mnemonic, operands)
    if kind is OpKind.CALL:
        # The name that the loader fills in: "call *0x2f8a(%rip)        # 3fd0 <expf@GLIBC_2.27>".
        comment = told.rpartition(" # ")[2]
        loaded = _target(comment) if "@" in comment else ""
        current.add(kind, told, _target(operands) or loaded)
        return
    called = _target(operands) if mnemonic == machine.JUMP else ""
    # A function's cold part is a piece of it that lies elsewhere.
    if called and called != current.name and ".cold" not in called:
        current.add(OpKind.CALL, told, called)
    else:
        current.add(kind, told)


def _target(operands: str) -> str:
    """The name in "1040 <fmaxf@plt>"; none where it is a place within a function."""
    _, _, named = operands.partition(" <")
    if not named.endswith(">"):
        return ""
    name = named[:-1]
    if name.rpartition("+0x")[1]:
        return ""
    return name.partition("@")[0]


def device_functions(text: str, kept_bytes: int = 0) -> tuple[Function, ...]:
    """Functions of a cubin's listing, or of all cubins of a shared object: bounded as the host's.

    kept_bytes: of shared memory that CUDA keeps, where the listing counts it in.

    Without what follows the last instruction: a branch to itself and NOPs, which nothing reaches.
    What the compiler puts behind a kernel, as a division's slow path, belongs to the kernel.
    """
    found: list[FunctionCounts] = []
    current: FunctionCounts | None = None
    used = _Used(kept_bytes)
    # Counted once something follows that is none.
    padding: list[tuple[OpKind, str]] = []
    label = ""
    for line in text.split("\n")[:-1]:
        if told := _DEVICE_LINE.match(line):
            mnemonic, operands = sass.parted(told[2])
            if current is None or mnemonic.startswith("."):
                continue
            kind = sass.kind_of(mnemonic)
            to_itself = kind is OpKind.BRANCH and bool(label) and operands == f"`({label})"
            if mnemonic == "NOP" or to_itself:
                padding.append((kind, told[2]))
            else:
                for skipped in padding:
                    current.add(*skipped)
                padding = []
                called = _device_target(kind, operands)
                current.add(kind, told[2], called, sass.moved_bytes(mnemonic))
            label = ""
        elif head := _DEVICE_HEAD.fullmatch(line):
            current = FunctionCounts(head[1])
            current.resources = used.of(current.name)
            found.append(current)
            padding, label = [], ""
        elif named := _DEVICE_LABEL.fullmatch(line):
            label = named[1]
        elif current and "//## File" in line:
            places = _DEVICE_PLACE.findall(line)
            # The innermost place of the candidate's own, where several are told.
            current.line = int(places[0]) if places else 0
        else:
            used.read(line)
    return most(found)


def ptx_functions(text: str) -> tuple[Function, ...]:
    """Functions of PTX, NVIDIA's language between source and machine code: lines without kinds."""
    own = {told[1] for line in text.split("\n") if (told := _PTX_FILE.match(line))}
    found: list[FunctionCounts] = []
    for line in text.split("\n")[:-1]:
        if head := _PTX_HEAD.match(line):
            found.append(FunctionCounts(head[1]))
        elif not found:
            continue
        elif ".loc" in line:
            # The innermost place of the candidate's own; Triton tells all of them in a comment.
            told = _PTX_TOLD.search(line)
            places = (number for file, number in _PTX_PLACE.findall(line) if file in own)
            found[-1].line = int(told[1] if told else next(places, 0))
        elif told := _PTX_LINE.match(line):
            found[-1].add(OpKind.OTHER, told[1])
    return most(found)


class _Used:
    """What the lines before a kernel's code say of its resources."""

    def __init__(self, kept_bytes: int) -> None:
        self._kept_bytes = kept_bytes
        self._name = ""
        self._told: dict[str, tuple[int, int, int]] = {}
        self._launched: tuple[int, int] | None = None

    def read(self, line: str) -> None:
        if named := _USED_BY.fullmatch(line):
            self._name = named[1]
        elif self._name and (numbers := _USED.match(line)):
            self._told[self._name] = (int(numbers[1]), int(numbers[2]), int(numbers[3]))
            self._name = ""
        elif launched := LAUNCHED_LINE.fullmatch(line):
            self._launched = int(launched[1]), int(launched[2])

    def of(self, name: str) -> Resources | None:
        if name not in self._told:
            return None
        registers, stack_bytes, shared_bytes = self._told[name]
        threads, dynamic_bytes = self._launched or (None, 0)
        shared_bytes = max(0, shared_bytes - self._kept_bytes) + dynamic_bytes
        return Resources(
            registers, stack_bytes=stack_bytes, shared_bytes=shared_bytes, threads=threads
        )


def _device_target(kind: OpKind, operands: str) -> str:
    """The name in "`($__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath)"."""
    if kind is not OpKind.CALL:
        return ""
    called = operands.partition("`(")[2].rpartition(")")[0].rpartition("$")[2]
    # A label of no function's.
    return "" if called.startswith(".L_") else called
