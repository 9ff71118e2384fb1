"""A CUDA kernel with a thread for each value, with several values a thread instead."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, filled, single, template
from campaigns.spaces.c_launches import kernels_of, launches_of
from campaigns.syntax.c_family import names_in, parameters, parse, text_of
from campaigns.syntax.cuda_source import (
    OTHER,
    PLACES,
    UNIT,
    Strides,
    accesses,
    is_plain,
    lines,
    needed,
    pointers_of,
    thread_work,
    words,
)
from campaigns.syntax.edits import Edit, edited

TEMPLATE = "vector_values.cu"
BYTES = {"float": 4, "int": 4, "__nv_bfloat16": 2, "__half": 2, "uint8_t": 1}
ENOUGH = re.compile(r"<<<\((?P<count>.+)\s\+\s(?P<by>\w+)\s-\s1\)\s/\s(?P=by),\s(?P=by)>>>")


@Recipe(
    "cuda.vector_loads",
    "Move 16 bytes per access",
    category=Category.MOVEMENT,
    change="Each thread takes VALUES neighbouring values, with one load and one store of up to 16 "
    "bytes where all of their addresses allow it, and value by value where not.",
    rationale="A thread that moves one short value keeps few bytes in flight, and issues an "
    "instruction for each; wide accesses move as much with an eighth of the instructions.",
    risks="Fewer threads. Where rows do not begin at a multiple of 16 bytes, every value moves "
    "alone as before, and less evenly.",
    expected=lambda facts: 1.6,
)
def vector_loads(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the first kernel with a thread for each value; refuse a source that has none.

    Precondition: it reads and writes neighbours, or within rows of them, while the index of its
    thread grows, and what it writes it accesses at that place alone.
    """
    root, text = parse(situation.source.text, cuda=True), template(TEMPLATE)
    for name, kernel in kernels_of(root).items() if root else ():
        launches = [one for one in launches_of(root or kernel) if one.kernel == name]
        shapes = {one.shape: ENOUGH.fullmatch(text_of(one.shape)) for one in launches}
        parts = None if names_in(kernel) & words(text) - PLACES else _parts(kernel)
        if not parts or not shapes or None in shapes.values():
            continue
        edits = [Edit(kernel.start_byte, kernel.end_byte, filled(text, parts).strip())]
        for shape, match in shapes.items():
            count, by = match.groups() if match else ("", "")
            new = f"<<<({count} + {by} * VALUES - 1) / ({by} * VALUES), {by}>>>"
            edits.append(Edit(shape.start_byte, shape.end_byte, new))
        return single(edited(situation.source, edits))
    return ()


def _parts(kernel: Node) -> Mapping[str, object]:
    """What the template needs of a kernel with a thread for each value; {} of any other."""
    work, pointers = thread_work(kernel), pointers_of(kernel)
    if work is None or work.indices.keys() != {"x"} or not is_plain(work.statements, kernel):
        return {}
    index, found = work.indices["x"], accesses(work.statements)
    strides = Strides(index.name).declare(work.statements)
    steps = {text_of(one.node): strides.of(one.index) for one in found}
    read = {text_of(one.node) for one in found if one.written != "="}
    written = {text_of(one.node) for one in found if one.written}
    bases = {one.base for one in found if one.written}
    own = all(text_of(one.node) in written for one in found if one.base in bases)
    runs = {text_of(one.node): one for one in found if steps[text_of(one.node)] == UNIT}
    kinds = [pointers.get(one.base, ("", ""))[1] for one in runs.values()]
    # Rows are as long as arguments say.
    names = {one.base for one in found} | {*re.findall(r"[A-Za-z]\w*", " ".join(strides.whole))}
    known = names <= {name for _, name in parameters(kernel)} and {*kinds} <= BYTES.keys()
    if not (own and known and written <= runs.keys() and runs.keys() & read):
        return {}
    if OTHER in steps.values():
        return {}
    inner, loads, stores = lines(work.statements), [], []
    for number, (place, kind) in enumerate(zip(runs, kinds, strict=True)):
        name, vector = f"{runs[place].base}_{number}", f"Vector<{kind}>"
        inner = re.sub(rf"(?<!\w){re.escape(place)}", f"{name}.held[nth]", inner)
        load = f" = *reinterpret_cast<const {vector}*>(&{place})" if place in read else ""
        loads.append(f"{vector} {name}{load};")
        if place in written:
            stores.append(f"*reinterpret_cast<{vector}*>(&{place}) = {name};")
    checks = [f"is_aligned(&{place})" for place in runs]
    return {
        "head": text_of(kernel).partition("{")[0],
        "values": 16 // min(BYTES[kind] for kind in kinds),
        "kind": index.kind,
        "index": index.name,
        "limit": index.limit,
        "needs": needed(work.statements, *(one.index for one in runs.values()))[0],
        "checks": " && ".join([*checks, *(f"{row} % VALUES == 0" for row in strides.whole)]),
        "loads": "\n".join(loads),
        "inner": inner,
        "stores": "\n".join(stores),
        "body": lines(work.statements),
    }
