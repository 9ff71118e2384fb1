"""A library's product and the kernel that works on each of its elements, as one Triton kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import Recipe

# Tiles that libraries take on large and on small products: rows, columns, inner, warps, stages.
TILES = ((128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 64, 64, 4, 4))
KERNEL = re.compile(
    r"@triton\.jit\ndef (?P<name>\w+)\((?P<params>[^)]*)\):\n(?P<body>(?:(?: .*)?\n)*)"
)
# The element that a program works on, as Inductor finds it.
PLACE = re.compile(r"^ *(?:xoffset|xindex|xmask) = .*\n", re.MULTILINE)
INDEX = re.compile(r"^ *(\w+) = xindex$", re.MULTILINE)
LAUNCH = re.compile(r" *grid = lambda meta: .*\n *(\w+)\[grid\]\(([^\n]*)\)\n")
# Names of what is added; a source that has one of them is left alone.
OURS = {
    *(
        "product",
        "product_a",
        "product_b",
        "product_bias",
        "at_m",
        "at_n",
        "at_k",
        "lanes",
        "start",
    ),
    *("tile", "group", "height", "tiles_m", "tiles_n", "block_m", "block_n", "a", "b"),
    *("a_mask", "b_mask", "a_row", "a_inner", "b_inner", "b_column", "bias_row", "bias_column"),
}
FUSED = """\
@triton.jit
def {name}(product_a_ptr, product_b_ptr, {params}, M, K, N, a_row, a_inner, b_inner, \
b_column, {bias_params}BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, \
GROUP: tl.constexpr):
    # Consecutive programs share rows and columns of tiles, which stay in the L2 cache.
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    at_m = (group * GROUP + tile % (GROUP * tiles_n) % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    at_n = (tile % (GROUP * tiles_n) // height) * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_K)
    product = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        at_k = start + lanes
        a_mask = (at_m[:, None] < M) & (at_k[None, :] < K)
        b_mask = (at_k[:, None] < K) & (at_n[None, :] < N)
        a = tl.load(product_a_ptr + at_m[:, None] * a_row + at_k[None, :] * a_inner, \
mask=a_mask, other=0.0)
        b = tl.load(product_b_ptr + at_k[:, None] * b_inner + at_n[None, :] * b_column, \
mask=b_mask, other=0.0)
        product = tl.dot(a, b, product, input_precision="ieee")
    xindex = at_m[:, None] * N + at_n[None, :]
    xmask = (at_m[:, None] < M) & (at_n[None, :] < N)
{bias}{body}"""
BIAS = """\
    product += tl.load(product_bias_ptr + at_m[:, None] * bias_row + at_n[None, :] * bias_column, \
xmask).to(tl.float32)
"""


@dataclass(frozen=True, slots=True)
class _LibraryCall:
    """A library call whose answer one kernel reads. sides: source of both factors.

    lines: those that make memory for the answer, and call the library.
    """

    answer: str
    sides: tuple[str, str]
    bias: str
    lines: tuple[str, str]


@Recipe(
    "triton.fuse_product",
    "Multiply in the kernel that works on the product",
    category=Category.ALGORITHM,
    change="One Triton kernel multiplies tiles and works on each sum while it is in registers; the "
    "library's call and the memory for its answer are gone.",
    rationale="The library writes the whole product, and the next kernel reads it again; both take "
    "time in which nothing is multiplied.",
    risks="The library's product is tuned by hand: a plain one has to be almost as fast for its "
    "fused work to be a gain.",
    expected=lambda facts: 1.1,
)
def fuse_product(situation: Situation) -> tuple[Variant, ...]:
    """Fuse `torch.mm` or `torch.addmm` into the element-wise kernel that alone reads its answer.

    Knows the files that are printed from Inductor's text, and refuses anything else.
    """
    text = situation.source.text
    product = _product(text)
    launches = [(launch, _arguments(launch[2])) for launch in LAUNCH.finditer(text)]
    reading = [one for one in launches if product and product.answer in one[1]]
    if product is None or len(reading) != 1:
        return ()
    launch, given = reading[0]
    kernel = next((one for one in KERNEL.finditer(text) if one["name"] == launch[1]), None)
    if kernel is None or text.count(kernel["name"]) != 2:
        return ()
    params = [one.strip() for one in kernel["params"].split(",")]
    if params[-2:] != ["xnumel", "XBLOCK : tl.constexpr"] or given.count(product.answer) != 1:
        return ()
    own = params[given.index(product.answer)]
    body = _body(kernel["body"], own)
    kept = [(p, g) for p, g in zip(params[:-2], given, strict=False) if p != own]
    if body is None or {*re.findall(r"\w+", text)} & OURS:
        return ()
    return tuple(
        Variant(
            f"tiles of {tile[0]} x {tile[1]}",
            Source(
                situation.source.name,
                _fused(text, product, (kernel, launch), kept, body, tile),
                situation.source.flags,
            ),
            {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
        )
        for tile in TILES
    )


def _product(text: str) -> _LibraryCall | None:
    """The one product whose answer lies row after row in memory made for it; else None."""
    found = []
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    run = next((one for one in body if getattr(one, "name", "") == "run_kernel"), None)
    if not isinstance(run, ast.FunctionDef):
        return None
    for statement in run.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        named = {key.arg: ast.unparse(key.value) for key in call.keywords}
        args, answer = [ast.unparse(arg) for arg in call.args], named.get("out", "")
        plain = {"mm": 2, "addmm": 3}.get(call.func.attr) == len(args)
        made = re.search(
            rf"^ *{answer} = torch\.empty_strided\(\((.+), (\w+)\), \(\2, 1\), .*\n", text, re.M
        )
        scaled = {named.get("alpha", "1"), named.get("beta", "1")} != {"1"}
        if plain and made and not scaled and len(re.findall(rf"\b{answer}\b", text)) == 3:
            line = text.split("\n")[statement.lineno - 1] + "\n"
            bias = "" if len(args) == 2 else args[0]
            found.append(_LibraryCall(answer, (args[-2], args[-1]), bias, (made[0], line)))
    return found[0] if len(found) == 1 else None


def _arguments(listed: str) -> Sequence[str]:
    """The arguments of a call as source, keywords left out; none where it is not one call."""
    try:
        call = ast.parse(f"f({listed})", mode="eval").body
    except SyntaxError:
        return []
    return [ast.unparse(arg) for arg in call.args] if isinstance(call, ast.Call) else []


def _body(body: str, answer: str) -> str | None:
    """The lines that work on an element, with the sum in the place of the answer's load.

    None where they read the answer elsewhere, or write it, or know of the shape of a block.
    """
    rest = PLACE.sub("", body)
    for name in INDEX.findall(rest):
        load = re.compile(rf"tl\.load\({answer} \+ \({name}\), (?:xmask|None)[^)]*\)")
        if len(load.findall(rest)) == len(re.findall(rf"\b{answer}\b", rest)) == 1:
            rest = load.sub("product", rest)
            break
    else:
        return None
    # Inductor leaves masks out where a size is a multiple of its block; a tile's edge needs them.
    rest = re.sub(r"(tl\.(?:load|store)\([^\n]*?), None\b", r"\1, xmask", rest)
    rest = rest.replace("[XBLOCK]", "[BLOCK_M, BLOCK_N]")
    known = "XBLOCK" in rest or "xnumel" in rest or "tl.program_id" in rest
    return None if known else rest


def _fused(
    text: str,
    product: _LibraryCall,
    parts: tuple[re.Match[str], re.Match[str]],
    kept: Sequence[tuple[str, str]],
    body: str,
    tile: Sequence[int],
) -> str:
    """The whole file anew. kept: parameters of the kernel with what they are given."""
    kernel, launch = parts
    has_bias = bool(product.bias)
    params = [*(["product_bias_ptr"] if has_bias else []), *(param for param, _ in kept)]
    fused = FUSED.format(
        name=kernel["name"],
        params=", ".join(params),
        bias_params="bias_row, bias_column, " if has_bias else "",
        bias=BIAS if has_bias else "",
        body=body,
    )
    # The names that other recipes know, where the arguments of the call leave them free.
    free = not {*"MNK"} & {*re.findall(r"\w+", text)}
    sizes = (
        ("M", "K", "N")
        if free
        else ("product_a.shape[0]", "product_a.shape[1]", "product_b.shape[1]")
    )
    strides = [f"{side}.stride({axis})" for side in ("product_a", "product_b") for axis in (0, 1)]
    strides += [f"product_bias.stride({axis})" for axis in (0, 1)] if has_bias else []
    given = [
        "product_a",
        "product_b",
        *(["product_bias"] if has_bias else []),
        *(arg for _, arg in kept),
    ]
    m, n, k, warps, stages = tile
    lines = [f"product_a, product_b = {product.sides[0]}, {product.sides[1]}"]
    lines += ["M, K = product_a.shape", "N = product_b.shape[1]"] if free else []
    lines += [f"product_bias = {product.bias}.expand({sizes[0]}, {sizes[2]})"] if has_bias else []
    lines += [
        f"block_m, block_n = {m}, {n}",
        f"grid = (triton.cdiv({sizes[0]}, block_m) * triton.cdiv({sizes[2]}, block_n),)",
        f"{kernel['name']}[grid]({', '.join([*given, *sizes, *strides])}, BLOCK_M=block_m, "
        f"BLOCK_N=block_n, BLOCK_K={k}, GROUP=8, num_warps={warps}, num_stages={stages})",
    ]
    made, call = product.lines
    for old, new in (
        (made, ""),
        (call, ""),
        (launch[0], "".join(f"    {line}\n" for line in lines)),
        (kernel[0], fused),
    ):
        text = text.replace(old, new, 1)
    return text
