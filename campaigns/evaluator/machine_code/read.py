"""Build a candidate and list its machine code with a disassembler of this host.

Called in a runner that is locked and has loaded nothing. A disassembler reads what a compiler made
of a hostile file, so it runs as locked down as the compiler. Triton's compiler runs where the
candidate's Python does, and is disassembled there: that list is the candidate's own word.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from campaigns.evaluator.backends import cuda
from campaigns.evaluator.builds.compile import check_flags, compile_or_fail
from campaigns.evaluator.builds.shared_object import write_source
from campaigns.evaluator.builds.triton_cache import CUOBJDUMP, NVDISASM, brought_program
from campaigns.evaluator.contract import Function, Job, MachineCode, backends
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import headline, nvcc
from campaigns.evaluator.machine_code.gcn_listing import amd_functions
from campaigns.evaluator.machine_code.listing import (
    LAUNCHED,
    device_functions,
    host_functions,
    ptx_functions,
)
from campaigns.evaluator.sandbox.workplace import Workplace

OBJDUMP, FILTER, LLVM = "objdump", "c++filt", "LLVM"
# A job's other form of code; see `Job.read_code`.
PTX = "ptx"
# Of nvdisasm: code only, with the lines of the source, and without its analysis of branches.
CODE = ("-c", "-g", "-ndf")
LISTS = {"cpp": OBJDUMP, "cuda": NVDISASM, "triton": NVDISASM}
# Lines of the source, which change no instruction.
LINES = {"cpp": "-g1", "cuda": "-lineinfo"}
# Where LLVM's assembly goes on with debugging sections, and where it tells of the kernels again.
_DEBUG, _METADATA = "\t.section\t.debug_", "\t.amdgpu_metadata"


def read_code(job: Job, place: Workplace, example: Layout) -> MachineCode:
    """What the candidate is made of on this host; with a note where that cannot be had."""
    if job.backend not in LISTS:
        return MachineCode("", note=f"the machine code of {job.backend} is not the candidate's own")
    by = LLVM if job.target.startswith("gfx") else LISTS[job.backend]
    tool = f"{by}, {job.target}"
    if job.read_code == PTX:
        if job.backend == "cpp" or by == LLVM:
            return MachineCode("", note=f"{job.backend} has no PTX for {job.target}")
        tool = f"PTX, {job.target}"
    try:
        if job.backend == "triton":
            return _of_triton(job, place, example, tool)
        if job.read_code == PTX:
            return _told(tool, _demangled(ptx_functions(_ptx(job, place)), place))
        source = replace(job.candidate, flags=(*job.candidate.flags, LINES[job.backend]))
        backends.get(job.backend).make(job, source, place).build(example)
        if job.backend == "cpp":
            command = [OBJDUMP, "-d", "-l", "--no-show-raw-insn", "--demangle", "candidate.so"]
            return _told(tool, host_functions(_listed(command, place)))
        functions = device_functions(_cuda_listing(place), kept_bytes(job.target))
        return _told(tool, _demangled(functions, place))
    except BuildFailed as error:
        return MachineCode(tool, note=f"it could not be built: {headline(str(error))}")
    except Unsupported as error:
        return MachineCode(tool, note=str(error))


def _ptx(job: Job, place: Workplace) -> str:
    """Raises BuildFailed and Unsupported."""
    check_flags(job.candidate.flags)
    path = write_source(job.candidate, place.folder, ".cu")
    flags = (*cuda.target_flags(job.target), *job.candidate.flags, LINES["cuda"])
    compile_or_fail([nvcc(), *flags, "-ptx", path.name, "-o", "candidate.ptx"], place)
    return _listed(["cat", "candidate.ptx"], place)


def _cuda_listing(place: Workplace) -> str:
    """What each kernel of the shared object takes, and its code. Raises Unsupported."""
    lister = brought_program(CUOBJDUMP)
    said = _listed([lister, "--dump-resource-usage", "candidate.so"], place)
    _listed([lister, "-xelf", "all", "candidate.so"], place)
    for cubin in sorted(place.folder.glob("*.cubin")):
        said += _listed([brought_program(NVDISASM), *CODE, f"./{cubin.name}"], place)
    return said


def kept_bytes(target: str) -> int:
    """What cuobjdump counts into the shared memory of a kernel that has any: 1 KiB from sm_90 on.

    Seen of CUDA 12.8 and 13.0; for sm_80 and sm_89 it lists none, though a launch keeps it too.
    """
    digits = target.removeprefix("sm_").rstrip("af")
    return 1024 if digits.isdecimal() and int(digits) >= 90 else 0


def _told(tool: str, functions: Sequence[Function]) -> MachineCode:
    note = "" if functions else "the disassembler listed no functions"
    return MachineCode(tool, tuple(functions), note)


def _listed(command: Sequence[str], place: Workplace) -> str:
    """What the disassembler says. Raises Unsupported."""
    try:
        ended = place.run(command)
    except FileNotFoundError:
        raise Unsupported(f"{command[0]} is not on this host") from None
    except subprocess.SubprocessError as error:
        raise Unsupported(f"{command[0]} could not be locked down: {error}") from None
    if ended.status:
        raise Unsupported(f"{command[0]}: {ended.words}: {headline(ended.log)}")
    return ended.log


def _demangled(functions: Sequence[Function], place: Workplace) -> Sequence[Function]:
    """With the names that the source has; as they are where no program of this host tells them."""
    try:
        names = _listed([FILTER, "--", *(one.name for one in functions)], place).splitlines()
    except Unsupported:
        return functions
    if len(names) != len(functions):
        return functions
    return [replace(one, name=name) for one, name in zip(functions, names, strict=True)]


def _of_triton(job: Job, place: Workplace, example: Layout, tool: str) -> MachineCode:
    path = write_source(job.candidate, place.folder, ".py")
    ended = place.apart(lambda: _list_compiled(job, path, example))
    if ended.status:
        return MachineCode(tool, note=f"{ended.words}: {headline(ended.log)}")
    if job.read_code == PTX:
        return _told(tool, ptx_functions(ended.log))
    if job.target.startswith("gfx"):
        return _told(tool, amd_functions(ended.log))
    return _told(tool, device_functions(ended.log, kept_bytes(job.target)))


def _list_compiled(job: Job, path: Path, example: Layout) -> int:
    """Compile every kernel for the job's target and print what is known of each, once."""
    from campaigns.evaluator.backends.triton import compile_for

    seen = set()
    for one in compile_for(job.target, path, example):
        code = one.asm.get("cubin") or one.asm["amdgcn"]
        if code in seen:
            continue
        seen.add(code)
        if job.read_code == PTX:
            print(one.asm["ptx"])
            continue
        threads = one.metadata.num_warps * one.metadata.target.warp_size
        print(LAUNCHED.format(threads=threads, shared_bytes=one.metadata.shared))
        if isinstance(code, str):
            before, _, behind = code.partition(_DEBUG)
            print(before, f"{_METADATA}{behind.rpartition(_METADATA)[2]}", sep="")
            continue
        file = path.with_suffix(".cubin")
        file.write_bytes(code)
        usage = [brought_program(CUOBJDUMP), "--dump-resource-usage", file.name]
        for command in (usage, [brought_program(NVDISASM), *CODE, file.name]):
            done = subprocess.run(
                command, cwd=file.parent, capture_output=True, text=True, check=False
            )
            if done.returncode:
                said = done.stderr.strip()
                print(said or f"{command[0]} ended with {done.returncode}", flush=True)
                return 1
            # Without the margin, which is half of the text, more of it is kept.
            sys.stdout.writelines(f"{' '.join(line.split())}\n" for line in done.stdout.split("\n"))
    sys.stdout.flush()
    return 0
