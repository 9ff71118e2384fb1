"""A CUDA kernel whose threads each walk over a row, with a block for every row instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe
from campaigns.spaces.c_launches import CudaLaunch, kernels_of, launches_of
from campaigns.syntax.c_family import (
    Loop,
    counted_loop,
    declared_names,
    indent_of,
    line_start,
    names_in,
    parse,
    statements,
    text_of,
    walk,
)
from campaigns.syntax.cuda_source import (
    OTHER,
    SAME,
    UNIT,
    Strides,
    ThreadWork,
    accesses,
    is_plain,
    pointers_of,
    squeezed,
    thread_work,
    without_unused,
)
from campaigns.syntax.edits import Edit, edited

THREADS = (256, 512, 1024)
# The declaration of what shuffles can move, and what a sum begins with.
NUMBER = r"\b(?:float|double|int|unsigned|long) {name} = ([^;,]+)[;,]"
ZERO = re.compile(r"0|0?\.0*f?")
EXTREME = re.compile(r"(\w+)=(?P<call>fmaxf|fminf|max|min)\((?:\1,.+|.+,\1)\)")
HELPER = """\
// The values of all threads of a block, folded into one that every thread gets.
template <typename T>
__device__ T block_{fold}(T value) {{
    __shared__ T parts[32];
    for (int lanes = 16; lanes > 0; lanes /= 2) {{
        T other = __shfl_xor_sync(0xffffffffu, value, lanes);
        value = {pair};
    }}
    // What the call before left there has been read by then.
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < blockDim.x / 32; ++warp) {{
        T other = parts[warp];
        value = {pair};
    }}
    return value;
}}

"""
CONSTANT = """\
// The threads that share a row.
constexpr int ROW_THREADS = {threads};
static_assert(ROW_THREADS % 32 == 0, "a block is made of whole warps");

"""


@dataclass(frozen=True, slots=True)
class RowKernel:
    """A kernel with a thread for each row, and its only launch, over so many `rows`.

    loops: over the columns; each with the variables that it folds values into, and how: `sum`, or
    the name of a function. alone: the statements that write one value a row.
    """

    work: ThreadWork
    loops: tuple[tuple[Loop, Mapping[str, str]], ...]
    alone: tuple[Node, ...]
    launch: CudaLaunch
    rows: str


@Recipe(
    "cuda.threads_share_row",
    "Let the threads of a block share a row",
    category=Category.LAUNCH,
    change="A block takes the row that one thread walked over: its threads take neighbouring "
    "columns in turns, and fold their sums and maxima with warp shuffles and shared memory.",
    rationale="With one thread per row, the lanes of a warp read addresses a whole row apart, so "
    "that of each 32-byte sector one value is used, and few blocks exist to fill the chip.",
    risks="Rows much shorter than a block leave threads idle. Sums are added in another order.",
    expected=lambda facts: 8.0,
)
def threads_share_row(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite each kernel with a thread per row; refuse a source that has none.

    Precondition: its loops walk over neighbouring columns, where they write, or fold values into
    sums and extremes that nothing reads before the loop ends; and an array that is written is
    accessed at the thread's own column alone.
    """
    text = situation.source.text
    root = parse(text, cuda=True)
    if root is None or "ROW_THREADS" in text or "block_" in text:
        return ()
    launches = [*launches_of(root)]
    found = (row_kernel(node, name, launches) for name, node in kernels_of(root).items())
    kernels = [kernel for kernel in found if kernel is not None]
    if not kernels:
        return ()
    first = min(line_start(kernel.work.kernel) for kernel in kernels)
    folds = {fold for one in kernels for _, each in one.loops for fold in each.values()}
    edits = [Edit(first, first, _helper(fold)) for fold in sorted(folds)]
    edits += [edit for kernel in kernels for edit in _edits(kernel)]
    old = [name for kernel in kernels for name in names_in(kernel.launch.shape)]
    variants = []
    for threads in THREADS:
        constant = Edit(first, first, CONSTANT.format(threads=threads))
        made = edited(situation.source, [constant, *edits])
        made = Source(made.name, without_unused(made.text, old), made.flags)
        variants.append(Variant(f"{threads} threads", made, {"threads": threads}))
    return tuple(variants)


def row_kernel(kernel: Node, name: str, launches: Iterable[CudaLaunch]) -> RowKernel | None:
    """Read a kernel as one with a thread per row; None for any other."""
    work, of_it = thread_work(kernel), [launch for launch in launches if launch.kernel == name]
    if work is None or work.indices.keys() != {"x"} or len(of_it) != 1:
        return None
    given, rows = of_it[0].given(kernel), work.indices["x"].limit
    grid, block = (squeezed(node) for node in of_it[0].shape.named_children[:2])
    enough = f"({given.get(rows, '')}+{block}-1)/{block}".replace(" ", "")
    found = {node: counted_loop(node) for node in work.statements if node.type == "for_statement"}
    loops = [loop for loop in found.values() if loop is not None]
    straight = [node for node in work.statements if node not in found]
    inner = [node for loop in loops for node in statements(loop.body)]
    leaves = "return" in text_of(work.guard)
    # One tensor that is passed twice would be read and written by different threads.
    apart = len({*given.values()}) == len(given)
    if not (leaves and apart and is_plain([*straight, *inner], kernel)) or grid != enough:
        return None
    whole = all((one.start, one.step) == ("0", "1") and one.stop in given for one in loops)
    folded = [(loop, folds) for loop in loops if (folds := _folds(loop, kernel)) is not None]
    if not whole or len(folded) < len(found) or not _own_columns(loops, work):
        return None
    alone = [node for node in straight if any(one.written for one in accesses([node]))]
    return RowKernel(work, tuple(folded), tuple(alone), of_it[0], given[rows])


def _folds(loop: Loop, kernel: Node) -> dict[str, str] | None:
    """What a loop folds values into, and how; None where a turn needs what another one left."""
    found: dict[str, str] = {}
    local = declared_names(loop.body)
    begin = loop.node.start_byte - kernel.start_byte
    before = text_of(kernel).encode()[:begin].decode()
    for write in walk(loop.body, "assignment_expression"):
        target = write.child_by_field_name("left")
        name = text_of(target)
        if target is None or target.type != "identifier" or name in local:
            continue
        word = re.compile(rf"\b{name}\b")
        uses = [len(word.findall(text)) for text in (before, text_of(loop.body))]
        number = re.search(NUMBER.format(name=name), before)
        extreme = EXTREME.fullmatch(squeezed(write))
        if number and uses == [1, 1] and ZERO.fullmatch(number[1]) and "+=" in text_of(write):
            found[name] = "sum"
        elif number and extreme and uses[1] == 2:
            found[name] = extreme["call"]
        else:
            return None
    return found


def _own_columns(loops: Iterable[Loop], work: ThreadWork) -> bool:
    """Say whether the loops read neighbours, and no thread touches what another one writes."""
    places: dict[int, str] = {}
    for loop in loops:
        body, local = statements(loop.body), declared_names(loop.body)
        strides = Strides(loop.variable).declare(body)
        for one in accesses(body):
            stride = strides.of(one.index)
            if stride == OTHER or one.base in local or (one.written and stride == SAME):
                return False
            if stride == UNIT and not names_in(one.index) & local:
                column = re.sub(rf"\b{loop.variable}\b", "@", squeezed(one.index))
                places[one.node.id] = f"{one.base}[{column}]"
        # A remainder is the column of several threads.
        if strides.whole:
            return False
    pointers = pointers_of(work.kernel)
    every = [(pointers.get(one.base, ("",))[0], one) for one in accesses(work.statements)]
    written = {root for root, one in every if one.written}
    by_root = {(root, places.get(one.node.id, str(one.node.id))) for root, one in every}
    alone = all(sum(root == known for root, _ in by_root) == 1 for known in written)
    return alone and "" not in written and bool(places)


def _helper(fold: str) -> str:
    pair = "value + other" if fold == "sum" else f"{fold}(value, other)"
    return HELPER.format(fold=fold, pair=pair)


def _edits(kernel: RowKernel) -> Iterator[Edit]:
    """The kernel and its launch with a block for each row."""
    guard, index = kernel.work.guard, kernel.work.indices["x"]
    begin = index.declaration.start_byte
    yield Edit(begin, guard.end_byte, f"{index.kind} {index.name} = blockIdx.x;")
    for loop, folds in kernel.loops:
        node = loop.node
        start = next(walk(node, "init_declarator")).child_by_field_name("value")
        step = node.child_by_field_name("update")
        if start is not None and step is not None:
            yield Edit(start.start_byte, start.end_byte, "threadIdx.x")
            yield Edit(step.start_byte, step.end_byte, f"{loop.variable} += blockDim.x")
        for name, fold in folds.items():
            line = f"\n{indent_of(node)}{name} = block_{fold}({name});"
            yield Edit(node.end_byte, node.end_byte, line)
    for statement in kernel.alone:
        yield Edit(statement.start_byte, statement.start_byte, "if (threadIdx.x == 0) ")
    shape = kernel.launch.shape
    yield Edit(shape.start_byte, shape.end_byte, f"<<<{kernel.rows}, ROW_THREADS>>>")
