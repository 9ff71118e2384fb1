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

from campaigns.evaluator.builds.shared_object import write_source
from campaigns.evaluator.builds.triton_cache import CUOBJDUMP, disassembler
from campaigns.evaluator.contract import Function, Job, MachineCode, backends
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import headline, toolkit_program
from campaigns.evaluator.machine_code.listing import device_functions, host_functions
from campaigns.evaluator.sandbox.workplace import Workplace

OBJDUMP, FILTER = "objdump", "c++filt"
LISTS = {"cpp": OBJDUMP, "cuda": CUOBJDUMP, "triton": CUOBJDUMP}


def read_code(job: Job, place: Workplace, example: Layout) -> MachineCode:
    """What the candidate is made of on this host; with a note where that cannot be had."""
    if job.backend not in LISTS:
        return MachineCode("", note=f"the machine code of {job.backend} is not the candidate's own")
    tool = f"{LISTS[job.backend]}, {job.target}"
    try:
        if job.backend == "triton":
            return _of_triton(job, place, example, tool)
        backends.get(job.backend).make(job, job.candidate, place).build(example)
        if job.backend == "cpp":
            command = [OBJDUMP, "--disassemble", "--no-show-raw-insn", "--demangle", "candidate.so"]
            return _told(tool, host_functions(_listed(command, place)))
        found = toolkit_program(CUOBJDUMP) or disassembler()
        functions = device_functions(_listed([found, "-sass", "candidate.so"], place))
        return _told(tool, _demangled(functions, place))
    except BuildFailed as error:
        return MachineCode(tool, note=f"it could not be built: {headline(str(error))}")
    except Unsupported as error:
        return MachineCode(tool, note=str(error))


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
    if not job.target.startswith("sm_"):
        note = f"only what is built for an NVIDIA GPU is read, not {job.target}"
        return MachineCode(tool, note=note)
    path = write_source(job.candidate, place.folder, ".py")
    ended = place.apart(lambda: _list_compiled(job.target, path, example))
    if ended.status:
        return MachineCode(tool, note=f"{ended.words}: {headline(ended.log)}")
    return _told(tool, device_functions(ended.log))


def _list_compiled(target: str, path: Path, example: Layout) -> int:
    """Compile every kernel for `target` and print what the disassembler says of each, once."""
    from campaigns.evaluator.backends.triton import compile_for

    compiled = compile_for(target, path, example)
    for cubin in dict.fromkeys(one.asm["cubin"] for one in compiled):
        file = path.with_suffix(".cubin")
        file.write_bytes(cubin)
        command = [disassembler(), "-sass", file.name]
        done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr.strip() or f"{CUOBJDUMP} ended with {done.returncode}", flush=True)
            return 1
        # Without the encodings, which are two thirds of the text, more of it is kept.
        sys.stdout.writelines(
            f"{line.split('/* 0x')[0].rstrip()}\n" for line in done.stdout.split("\n")
        )
    sys.stdout.flush()
    return 0
