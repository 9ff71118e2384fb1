"""Triton recipes for products of tiles, whatever is computed of their sums."""

from __future__ import annotations

import re
from collections.abc import Iterable

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe, single
from campaigns.syntax.edits import Edit, edited, replaced
from campaigns.syntax.triton_source import Kernel, Launch, TritonSource, code, given, read_triton


def read_product(text: str) -> tuple[TritonSource, Kernel, Launch] | None:
    """A source with the one kernel that multiplies tiles, and its one launch; else None."""
    source = read_triton(text)
    kernels = source.kernels.values() if source else ()
    found = [kernel for kernel in kernels if "tl.dot" in code(kernel.node)]
    if source is None or len(found) != 1:
        return None
    launches = [launch for launch in source.launches if launch.kernel == found[0].name]
    return (source, found[0], launches[0]) if len(launches) == 1 else None


def own_line(launch: Launch, text: str) -> tuple[int, str] | None:
    """Where the line of a launch begins that is a statement by itself, and its indentation."""
    begin = text.encode()[: launch.start].rfind(b"\n") + 1
    indent = text.encode()[begin : launch.start].decode()
    return None if indent.strip() else (begin, indent)


def lines_before(launch: Launch, indent: str, lines: Iterable[str]) -> Edit:
    """Put lines of the host before a launch that is a statement by itself."""
    return Edit(launch.start, launch.start, "".join(f"{line}\n{indent}" for line in lines))


def added_kernel(text: str, kernel: str) -> list[Edit]:
    """A kernel before all others, for whose results the host allocates memory by torch."""
    begins = len(text[: text.index("@triton.jit")].encode())
    return [*torch_imported(text), Edit(begins, begins, kernel)]


def torch_imported(text: str) -> list[Edit]:
    """No edit where torch is imported already."""
    if re.search(r"^import torch$", text, re.MULTILINE):
        return []
    return [replaced(text, "import triton\n", "import torch\nimport triton\n")]


def named_number(text: str, launch: Launch, parameter: str) -> tuple[str, list[Edit]]:
    """The variable that a number reaches a launch by; the edits bind one where there is none.

    So the number has one place, and whoever changes it later changes all of its uses.
    """
    number, name = launch.numbers[parameter], parameter.lower()
    if number.name:
        return number.name, []
    line = text.encode()[: launch.start].rsplit(b"\n", 1)[-1].decode()
    binding = Edit(launch.start, launch.start, f"{name} = {number.value}\n{line}")
    return name, [binding, Edit(number.span.start, number.span.end, name)]


MASKS = re.compile(
    r"^(?P<in>[ ]+)(?P<a>\w+) = \((?P<row>\w+)\[:, None\] < M\) & \((?P<k>\w+)\[None, :\] < K\)\n"
    r"[ ]+(?P<b>\w+) = \((?P=k)\[:, None\] < K\) & \((?P<col>\w+)\[None, :\] < N\)\n",
    re.MULTILINE,
)
EVEN = """\
{in}if EVEN_K:
{in}    {a} = {row}[:, None] < M
{in}    {b} = {col}[None, :] < N
{in}else:
{in}    {a} = ({row}[:, None] < M) & ({k}[None, :] < K)
{in}    {b} = ({k}[:, None] < K) & ({col}[None, :] < N)
"""


@Recipe(
    "triton.even_tiles",
    "Drop the inner masks of whole tiles",
    category=Category.INSTRUCTIONS,
    change="EVEN_K, fixed at compile time, removes the inner dimension from the masks of A "
    "and B where it is a multiple of BLOCK_K.",
    rationale="The comparison with K sits in the inner loop, costs instructions in every turn "
    "and keeps the loads from being issued early; for whole tiles it never applies.",
    risks="Two compiled versions where sizes of both kinds occur.",
    expected=lambda facts: 1.02,
)
def even_tiles(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the masks of a plain tile kernel; refuse anything else."""
    source = situation.source
    found = read_product(source.text)
    masks = list(MASKS.finditer(source.text))
    if found is None or len(masks) != 1:
        return ()
    _, kernel, launch = found
    inner = given(kernel, launch).get("K")
    known = "BLOCK_K" in launch.numbers and inner is not None and code(inner) == "K"
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    taken = "EVEN_K" in code(kernel.node)
    if not known or taken or "BLOCK_K" not in kernel.constexprs or source.text.count(last) != 1:
        return ()
    text, mask = source.text, masks[0]
    name, named = named_number(text, launch, "BLOCK_K")
    edits = [
        replaced(text, last, f"{last}, EVEN_K: tl.constexpr"),
        replaced(text, mask[0], EVEN.format(**mask.groupdict())),
        Edit(launch.end, launch.end, f", EVEN_K=K % {name} == 0"),
        *named,
    ]
    return single(edited(source, edits))


GROUP = 8
ORDER = """\
tiles_0 = tl.cdiv({rows}, {height})
    tiles_1 = tl.cdiv({columns}, {width})
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_1)
    height = min(tiles_0 - group * GROUP, GROUP)
    tile_0 = group * GROUP + tile % (GROUP * tiles_1) % height
    tile_1 = tile % (GROUP * tiles_1) // height
    """
GRID_2 = re.compile(
    r"\((?P<rows>triton\.cdiv\((\w+), (\w+)\)), (?P<columns>triton\.cdiv\((\w+), (\w+)\))\)"
)


def _grid_of(launch: Launch, text: str) -> re.Match[str] | None:
    """Match a grid of rows and columns of tiles that stands once in the text, on one line."""
    return GRID_2.fullmatch(launch.grid) if text.count(launch.grid) == 1 else None


def sides_of(kernel: Kernel, launch: Launch, grid: re.Match[str]) -> list[str]:
    """The kernel's own names of what such a grid is made of; "" for what it is not given."""
    named = {code(value): name for name, value in given(kernel, launch).items()}
    return [named.get(grid[number], "") for number in (2, 3, 5, 6)]


@Recipe(
    "triton.grouped_order",
    "Walk the tiles in groups",
    category=Category.MOVEMENT,
    change="The grid becomes one-dimensional and consecutive programs take tiles from a group "
    f"of {GROUP} tile rows.",
    rationale="Programs that run at the same time then read the same few tiles of A and B, "
    "which stay in the L2 cache, instead of a whole stripe each.",
    risks="No effect where both matrices fit into the L2 cache anyway.",
    expected=lambda facts: 1.07,
)
def grouped_order(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite the order of a kernel on a (rows, columns) grid; refuse anything else."""
    text = situation.source.text
    found = read_product(text)
    grid = _grid_of(found[2], text) if found else None
    if found is None or grid is None:
        return ()
    source, kernel, launch = found
    body, last = code(kernel.node.body), f"{kernel.parameters[-1]}: tl.constexpr"
    sides = sides_of(kernel, launch, grid)
    numbers = [f"tl.program_id({axis})" for axis in (0, 1)]
    calls = [text.count(part) for part in (*numbers, last)]
    if not all(sides) or calls != [1, 1, 1] or body.count("tl.program_id") != 2:
        return ()
    start = source.spans[kernel.node.body].start
    order = ORDER.format(**dict(zip(("rows", "height", "columns", "width"), sides, strict=True)))
    edits = [
        Edit(start, start, order),
        *(replaced(text, part, f"tile_{axis}") for axis, part in enumerate(numbers)),
        replaced(text, last, f"{last}, GROUP: tl.constexpr"),
        replaced(text, launch.grid, f"({grid['rows']} * {grid['columns']},)"),
        Edit(launch.end, launch.end, f", GROUP={GROUP}"),
    ]
    return single(edited(situation.source, edits))


SPLIT = 4
# Fewer tiles than this leave most of a data-centre GPU idle.
FEW_TILES = 256
WALK = re.compile(r"for (\w+) in range\(0, K, BLOCK_K\):")
STORE = re.compile(
    r"tl\.store\((?P<c>\w+)(?P<at> \+ [^,]+\[:, None\] \* N \+ [^,]+\[None, :\]), "
    r"(?P<sum>\w+)(?:\.to\([\w.]+\))?, mask=(?P<mask>\w+)\)\n"
)
SUM_PARTS = """\
@triton.jit
def sum_parts(parts_ptr, c_ptr, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(parts_ptr + part * count + at, mask=at < count, other=0.0)
    tl.store(c_ptr + at, total.to(c_ptr.dtype.element_ty), mask=at < count)


"""


@Recipe(
    "triton.split_k",
    "Split the sums among programs",
    category=Category.LAUNCH,
    change=f"{SPLIT} programs share each tile: every one takes a part of the inner dimension and "
    "writes its sums in float32, and a second kernel adds the parts.",
    rationale="A narrow product has fewer tiles than the chip has multiprocessors, and each of "
    "them walks over a long inner dimension alone; its parts can be read by all at once.",
    risks="The parts are written and read once more, which costs where there are many tiles. Sums "
    "are added in another order.",
    expected=lambda facts: 1.5 if (facts.share or 0) < 0.7 else 1.02,
)
def split_k(situation: Situation) -> tuple[Variant, ...]:
    """Split a plain kernel on a (rows, columns) grid, where its product is narrow."""
    text, task = situation.source.text, situation.product
    found = read_product(text)
    grid = _grid_of(found[2], text) if found else None
    walks, stores = WALK.findall(text), list(STORE.finditer(text))
    if found is None or grid is None or len(walks) != 1 or len(stores) != 1:
        return ()
    if f"{stores[0]['sum']} = tl.dot(" not in text or text.count("import triton\n") != 1:
        return ()
    source, kernel, launch = found
    if task is not None and -(-task.shape.m // 64) * -(-task.shape.n // 64) >= FEW_TILES:
        return ()
    store, passed = stores[0], {name: code(value) for name, value in given(kernel, launch).items()}
    sides = {"M", "N", "K", "BLOCK_K"} <= passed.keys() and all(passed[n] == n for n in "MNK")
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    # The kernel ends with the store.
    ends = code(kernel.node.body.body[-1]).strip() == store[0].strip()
    line = own_line(launch, text)
    if not (sides and ends and line) or text.count(last) != 1 or store["c"] not in passed:
        return ()
    begin, indent = line
    answer, end = passed[store["c"]], source.spans[launch.call].end
    address = source.spans[given(kernel, launch)[store["c"]]]
    counted = len(text[: text.rindex("\n", 0, text.index(launch.grid)) + 1].encode())
    edits = [
        *_split_kernel(text, kernel, store, walks[0]),
        replaced(text, launch.grid, f"({grid['rows']}, {grid['columns']}, split)"),
        Edit(counted, counted, f"{indent}split = {SPLIT}\n"),
        Edit(begin, begin, f"{indent}parts = {_empty(answer)}\n"),
        Edit(address.start, address.end, "parts"),
        Edit(launch.end, launch.end, ", SPLIT=split"),
        Edit(end, end, f"\n{indent}{_added(answer)}"),
    ]
    return single(edited(situation.source, edits))


def _split_kernel(text: str, kernel: Kernel, store: re.Match[str], walk: str) -> list[Edit]:
    last = f"{kernel.parameters[-1]}: tl.constexpr"
    loop = f"for {walk} in range(0, K, BLOCK_K):"
    part = f"tl.store(\n        {store['c']} + tl.program_id(2).to(tl.int64) * M * N{store['at']},"
    written = f"{part}\n        {store['sum']},\n        mask={store['mask']},\n    )\n"
    return [
        *added_kernel(text, SUM_PARTS),
        replaced(text, last, f"{last}, SPLIT: tl.constexpr"),
        replaced(
            text, loop, f"for {walk} in range(tl.program_id(2) * BLOCK_K, K, SPLIT * BLOCK_K):"
        ),
        replaced(text, store[0], written),
    ]


def _empty(answer: str) -> str:
    return f"torch.empty(split * M * N, dtype=torch.float32, device={answer}.device)"


def _added(answer: str) -> str:
    grid = "[(triton.cdiv(M * N, 1024),)]"
    return f"sum_parts{grid}(parts, {answer}, M * N, PARTS=split, BLOCK=1024)"


SCALED = re.compile(
    r"^(?P<in> +)(?P<s>\w+) = (?P<dot>tl\.dot\(.+\)) \* (?P<scale>\w+)$", re.MULTILINE
)
POWER = re.compile(r"tl\.exp\((?=\w+ - \w+(?:\[:, None\])?\))")
LOG2_E = "1.4426950408889634"


@Recipe(
    "triton.exp2",
    "Work in powers of two",
    category=Category.INSTRUCTIONS,
    change="The scale of the scores takes the factor log2(e), and every exponential of a "
    "difference of scores becomes a power of two.",
    rationale="The hardware raises two to a power; an exponential multiplies by log2(e) first, "
    "once for each score. Folded into the scale, that costs nothing.",
    risks="What else reads the scores, such as a bias or a logarithm, would need the factor, too.",
    expected=lambda facts: 1.05,
)
def exp2(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite a softmax of scaled products; refuse a kernel that does more with the scores."""
    text = situation.source.text
    found, scaled = read_product(text), list(SCALED.finditer(text))
    if found is None or len(scaled) != 1:
        return ()
    body, score = code(found[1].node.body), scaled[0]
    powers = list(POWER.finditer(text))
    others = text.count("tl.exp") != len(powers) or "tl.log" in body or "tl.max(" not in body
    if not powers or others or len(re.findall(rf"\b{score['scale']}\b", body)) != 1:
        return ()
    times = f"{score['in']}{score['s']} = {score['dot']} * ({score['scale']} * {LOG2_E})"
    edits = [replaced(text, score[0], times)]
    for power in powers:
        start, end = (len(text[:at].encode()) for at in power.span())
        edits.append(Edit(start, end, "tl.exp2("))
    return single(edited(situation.source, edits))
