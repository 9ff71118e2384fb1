"""PURE: an example call of a reference, from what its source says of its own arguments.

Shapes stand in annotations (`Float[Tensor, "N D"]`, `"f16[N, D]"`), in the docstring or a comment
beside an argument (`x: (N, D)`), or are unpacked (`N, D = x.shape`). Where one tensor's shape is
not told, there is no proposal: a person knows it, and a guess would be measured.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from campaigns.problems.import_.draft import CallNeeded, DraftError

NAMES = r"(?:[A-Za-z_]\w*|\d+)"
SHAPE = re.compile(rf"[\[(]\s*({NAMES}(?:\s*(?:,|×|\bx\b)\s*{NAMES})*)\s*,?\s*[\])]")
# Words in brackets that are no side of a tensor.
NO_SIDE = re.compile(r"tensor|torch|optional|float|int|bool|str|none|fp\d|bf\d|default", re.I)
DTYPES = {
    "float16": r"f16|fp16|float16|half",
    "bfloat16": r"bf16|bfloat16",
    "float64": r"f64|fp64|float64|double",
}
WHOLE = re.compile(r"\b(?:u?int\d*|i32|i64|long|integer)\b", re.IGNORECASE)
# Sizes by what sides are called, and of the others in their order: all different, so that no two
# sides are taken for one.
USUAL = {"b": 8, "batch": 8, "bs": 8, "batch_size": 8, "h": 16, "heads": 16, "num_heads": 16}
OTHERS = (1024, 512, 256, 128, 64, 32, 24, 12)


def proposed_call(text: str, name: str) -> str:
    """A call of the function or module `name`, sizes before it; "" where the source does not tell.

    The text is parsed and not run.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = next((n for n in tree.body if getattr(n, "name", "") == name), None)
    shown, function = name, found
    if isinstance(found, ast.ClassDef):
        methods = {n.name: n for n in found.body if isinstance(n, ast.FunctionDef)}
        made = methods.get("__init__")
        if made is not None and len(made.args.args) - 1 > len(made.args.defaults):
            return ""
        shown, function = f"{name}()", methods.get("forward")
    if not isinstance(function, ast.FunctionDef):
        return ""
    return _call(shown, function, text.splitlines()[function.lineno - 1 : function.end_lineno])


def call_needed(shown: str, told: Iterable[tuple[str, str]], refused: Sequence[str]) -> CallNeeded:
    """Asks for example calls of `shown`. told: sources, each with the name of its function.

    refused: why calls that there are were not understood.
    """
    proposed = next(filter(None, (proposed_call(*each) for each in told)), "")
    usual = f"{shown}(torch.randn(4096, 1024, dtype=torch.float16), …)"
    none = f"no call of {shown} with tensors is in the file"
    needed = f"needed: one such as {proposed or usual}"
    return CallNeeded(f"{refused[0] if refused else none}; {needed}", proposed)


def reference_needed(head: str) -> DraftError:
    """Asks for a reference in one sentence. head: its name and arguments, as a person may write."""
    form = f"a function or nn.Module in torch, such as 'def {head}: return torch.…'"
    return DraftError("reference", f"needed, what gives the right answer: {form}")


def _call(shown: str, function: ast.FunctionDef, lines: list[str]) -> str:
    listed = [*function.args.posonlyargs, *function.args.args]
    listed = listed[: len(listed) - len(function.args.defaults)]
    listed = [each for each in listed if each.arg != "self"]
    shapes = {each.arg: _shape(each, function, lines) for each in listed}
    sides = dict.fromkeys(side for shape in shapes.values() for side in shape)
    sizes = _sizes(side for side in sides if not side.isdigit())
    values = [_value(each, shapes[each.arg], sizes, lines) for each in listed]
    if not sides or not all(values) or len(sizes) > len(OTHERS):
        return ""
    before = f"{', '.join(sizes)} = {', '.join(map(str, sizes.values()))}; " if sizes else ""
    return f"{before}{shown}({', '.join(values)})"


def _sizes(sides: Iterator[str]) -> dict[str, int]:
    others = iter(OTHERS * 2)
    return {side: USUAL.get(side.lower()) or next(others, 1) for side in sides}


def _value(arg: ast.arg, shape: tuple[str, ...], sizes: dict[str, int], lines: list[str]) -> str:
    """An argument as the call has it; "" for what is not told."""
    kind = ast.unparse(arg.annotation) if arg.annotation else ""
    if not shape:
        if arg.arg in sizes:
            return arg.arg
        return "1e-6" if kind == "float" or arg.arg in ("eps", "epsilon") else ""
    written = ", ".join(shape)
    said = " ".join((kind, *_beside(arg.arg, lines)))
    if WHOLE.search(said):
        return f"torch.randint(0, 8, ({written},))"
    dtype = next((n for n, p in DTYPES.items() if re.search(rf"\b({p})\b", said, re.I)), "")
    return f"torch.randn({written}{f', dtype=torch.{dtype}' if dtype else ''})"


def _shape(arg: ast.arg, function: ast.FunctionDef, lines: list[str]) -> tuple[str, ...]:
    """The sides of a tensor, names or numbers; empty where nothing tells them."""
    for node in ast.walk(arg.annotation) if arg.annotation else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = SHAPE.search(node.value)
            sides = re.split(r"[\s,]+", (found[1] if found else node.value).strip())
            if all(re.fullmatch(NAMES, side) for side in sides) and not NO_SIDE.search(node.value):
                return tuple(sides)
    for text in _beside(arg.arg, lines):
        for found in SHAPE.finditer(text):
            if not NO_SIDE.search(found[1]):
                return tuple(re.split(r"\s*(?:,|×|\bx\b)\s*", found[1]))
    return next(_unpacked(arg.arg, function), ())


def _beside(name: str, lines: list[str]) -> Iterator[str]:
    """What comments and the docstring say behind an argument's name, line by line."""
    for line in lines:
        if found := re.search(rf"\b{re.escape(name)}\b[^#]*#(.*)", line):
            yield found[1]
        elif found := re.match(rf"\s*[-*]?\s*`?{re.escape(name)}`?\s*[:(\[](?!\s*torch)", line):
            yield line[found.end() - 1 :]


def _unpacked(name: str, function: ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    """The names that a statement such as `N, D = x.shape` gives the sides."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        sides = node.targets[0].elts
        if ast.unparse(node.value) in (f"{name}.shape", f"{name}.size()"):
            names = [each.id for each in sides if isinstance(each, ast.Name)]
            if len(names) == len(sides) and "_" not in names:
                yield tuple(names)
