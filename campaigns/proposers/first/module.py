"""What an Inductor module does, read from its text: kernels, and the steps of one call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

KERNEL = re.compile(
    r"^(\w+) = async_compile\.(?:cpp_pybinding|triton)\(.*?, r?'''\n(.*?)'''",
    re.DOTALL | re.MULTILINE,
)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
# These functions look after devices and memory, and compute nothing.
IDLE = re.compile(r"assert_\w+|args\.clear|torch\.cuda\.\w+|copy_if_misaligned|get_raw_stream")
# What is longer is no line of Inductor's, and takes long to be read.
LONGEST_LINE = 4000


class NotPrinted(ValueError):
    """Why there is no plain source of a module; one line for people."""


@dataclass(frozen=True, slots=True)
class Step:
    """what: "made" (args: elements, sizes, strides, dtype), "run" a kernel, or a "library" call.

    args: as source, with our names.
    """

    what: str
    name: str
    args: tuple[str, ...]


def kernels_of(text: str) -> dict[str, str]:
    """The source of each kernel by its name. Raises NotPrinted."""
    if max(map(len, text.split("\n"))) > LONGEST_LINE:
        raise NotPrinted(f"a line has more than {LONGEST_LINE:,} characters")
    return dict(KERNEL.findall(text))


def steps_of(
    text: str, kernels: Mapping[str, str], names: Sequence[str], view: Callable[..., str]
) -> Iterator[Step]:
    """What a call does, in order. Raises NotPrinted, and what `ast.parse` raises.

    names: of its arguments. view: source of memory with other sizes, strides and offset.
    """
    calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef))
    known = {"reinterpret_tensor": "torch.as_strided"}

    def called(node: ast.AST) -> str:
        said = renamed(ast.unparse(node), known)
        return f"({said})" if isinstance(node, ast.BinOp) else said

    for one in ast.walk(next(n for n in calls if n.name == "call")):
        if not isinstance(one, ast.Assign | ast.Expr):
            continue
        value = one.value
        target = ast.unparse(one.targets[0]) if isinstance(one, ast.Assign) else ""
        if ast.unparse(value) == "args":
            known |= dict(zip(WORD.findall(target), names, strict=True))
        elif not isinstance(value, ast.Call):
            known[target] = called(value)
        elif ast.unparse(value.func) == "reinterpret_tensor":
            known[target] = view(*map(called, value.args))
        elif step := _step(value, target, kernels, called):
            yield step


def _step(
    call: ast.Call, target: str, kernels: Mapping[str, str], called: Callable[[ast.AST], str]
) -> Step | None:
    """None of what only looks after devices and memory. Raises NotPrinted."""
    function = ast.unparse(call.func)
    args = [called(arg) for arg in call.args]
    if function.startswith("empty_strided"):
        sizes = [called(size) for size in ast.iter_child_nodes(call.args[0])]
        count = " * ".join(size for size in sizes if size not in ("1", ""))
        return Step("made", target, (count or "1", *args))
    if (name := function.removesuffix(".run")) in kernels:
        return Step("run", name, tuple(args))
    if function.startswith("extern_kernels."):
        args += [f"{key.arg}={called(key.value)}" for key in call.keywords]
        return Step("library", function.removeprefix("extern_kernels."), tuple(args))
    if not IDLE.fullmatch(function):
        raise NotPrinted(f"it calls {function:.80}")
    return None


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names for some of its words."""
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def operators(name: str) -> str:
    """The operators that a kernel fuses, from its name: `cpp_fused_add_gelu_0` → "add gelu"."""
    words = name.partition("fused_")[2].rpartition("_")[0]
    return " ".join(filter(None, words.split("_")))
