"""What an Inductor module does, read from its text: kernels, and the steps of one call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

KERNELS = ("cpp_pybinding", "triton")
# Of sizes, in C++ as well as in Python.
SIGNS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
PYTHON_SIGNS: Mapping[type[ast.operator], str] = {**SIGNS, ast.FloorDiv: "//", ast.Mod: "%"}
# What describes a kernel is one line. A longer one is nobody's, and takes long to be read.
LONGEST_LINE = 4000
# Of a call, what has to do with its own memory alone.
SKIPPED = re.compile(
    r"assert_|args\.clear|torch\.cuda\.|\w+ = (copy_if_misaligned|get_raw_stream)\("
)


class NotPrinted(ValueError):
    """Why there is no plain source of a module; one line for people."""


@dataclass(frozen=True, slots=True)
class Made:
    """Memory to work in: sizes and strides in numbers and names."""

    name: str
    sizes: tuple[ast.expr, ...]
    strides: tuple[ast.expr, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Same:
    """Another name for memory or for a size.

    view: its sizes, strides and offset, if others. value: of a size that is worked out.
    """

    name: str
    of: str
    view: tuple[ast.expr, ...] = ()
    value: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a kernel of the module, or of a library's function."""

    name: str
    args: tuple[ast.expr, ...]
    is_library: bool = False
    keywords: tuple[ast.keyword, ...] = ()
    result: str = ""


Step = Made | Same | Run


@dataclass(frozen=True, slots=True)
class InductorModule:
    """kernels: source by name. args: the names of the call's arguments, in their order."""

    kernels: Mapping[str, str]
    args: tuple[str, ...]
    steps: tuple[Step, ...]


def read_module(text: str) -> InductorModule:
    """Raises NotPrinted where it does what is not known here."""
    if max(map(len, text.split("\n"))) > LONGEST_LINE:
        raise NotPrinted(f"a line has more than {LONGEST_LINE:,} characters")
    try:
        tree = ast.parse(text)
        call = next(_functions(tree, "call"), None)
        if call is None:
            raise NotPrinted("it has no function call")
        kernels = dict(_kernels(tree))
        args: tuple[str, ...] = ()
        steps: list[Step] = []
        for one in _flat(call.body):
            if isinstance(one, ast.Assign) and ast.unparse(one.value) == "args":
                args = tuple(n.id for n in ast.walk(one.targets[0]) if isinstance(n, ast.Name))
            elif isinstance(one, ast.Return):
                break
            elif step := _step(one, kernels):
                steps.append(step)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, NotPrinted):
            raise
        raise NotPrinted("it is no module of Inductor's") from None
    return InductorModule(kernels, args, tuple(steps))


def _functions(tree: ast.Module, name: str) -> Iterator[ast.FunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those of `with` blocks, which choose a device."""
    for one in body:
        if isinstance(one, ast.With):
            yield from _flat(one.body)
        else:
            yield one


def _kernels(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for one in tree.body:
        value = one.value if isinstance(one, ast.Assign) else None
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            continue
        target = one.targets[0] if isinstance(one, ast.Assign) else None
        source = value.args[1] if len(value.args) > 1 else None
        known = value.func.attr in KERNELS and isinstance(source, ast.Constant)
        if known and isinstance(target, ast.Name) and isinstance(source.value, str):
            yield target.id, source.value


def _step(one: ast.stmt, kernels: Mapping[str, str]) -> Step | None:
    """Raises NotPrinted."""
    said = ast.unparse(one)
    if SKIPPED.match(said) or isinstance(one, ast.Delete):
        return None
    value = one.value if isinstance(one, ast.Expr | ast.Assign) else None
    target = one.targets[0] if isinstance(one, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else ""
    if isinstance(value, ast.Name) and name:
        return Same(name, value.id)
    if isinstance(value, ast.BinOp | ast.Constant) and name:
        return Same(name, "", (), value)
    if not isinstance(value, ast.Call):
        raise NotPrinted(f"it does what is not known here: {said:.80}")
    called = ast.unparse(value.func)
    if called.startswith("empty_strided"):
        sizes, strides, dtype = value.args
        return Made(name, _all(sizes), _all(strides), ast.unparse(dtype).removeprefix("torch."))
    if called == "reinterpret_tensor" and isinstance(value.args[0], ast.Name):
        return Same(name, value.args[0].id, tuple(value.args[1:]))
    own = called.removesuffix(".run")
    if own in kernels:
        return Run(own, tuple(value.args))
    if called.startswith("extern_kernels."):
        own = called.removeprefix("extern_kernels.")
        return Run(own, tuple(value.args), True, tuple(value.keywords), name)
    raise NotPrinted(f"it calls {called:.80}")


def _all(node: ast.expr) -> tuple[ast.expr, ...]:
    return tuple(node.elts) if isinstance(node, ast.Tuple) else (node,)


class Names:
    """What the module's names are called in the printed file."""

    def __init__(
        self,
        args: Sequence[str],
        names: Sequence[str],
        taken: frozenset[str],
        signs: Mapping[type[ast.operator], str] = SIGNS,
    ) -> None:
        """names: of the arguments, in the order of `args`. taken: what they cannot be called.

        signs: what sizes may be worked out by.
        """
        self._signs = signs
        if len(args) != len(names):
            raise NotPrinted("it has other arguments than the reference")
        own = (f"{name}_" if name in taken else name for name in names)
        self._known = dict(zip(args, own, strict=True))

    def add(self, name: str, called: str) -> None:
        self._known[name] = called

    def of(self, name: str) -> str:
        """Raises NotPrinted for one that nothing was said of."""
        if name not in self._known:
            raise NotPrinted(f"it uses {name:.40}, which it does not make")
        return self._known[name]

    def written(self, node: ast.expr) -> str:
        """Sizes, numbers and memory as source."""
        if isinstance(node, ast.Name):
            return self.of(node.id)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return repr(node.value)
        if isinstance(node, ast.Tuple):
            inner = ", ".join(map(self.written, node.elts))
            return f"({inner},)" if len(node.elts) == 1 else f"({inner})"
        if isinstance(node, ast.BinOp) and type(node.op) in self._signs:
            left, right = (
                f"({self.written(side)})" if isinstance(side, ast.BinOp) else self.written(side)
                for side in (node.left, node.right)
            )
            return f"{left} {self._signs[type(node.op)]} {right}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "reinterpret_tensor":
            return f"torch.as_strided({', '.join(map(self.written, node.args))})"
        raise NotPrinted(f"a size is {ast.unparse(node):.60}")


def is_dense(made: Made) -> bool:
    """Whether its elements lie without gaps, in whatever order; tried with a number a name."""
    nodes = (node for one in (*made.sizes, *made.strides) for node in ast.walk(one))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    known = {name: 101 + 2 * place for place, name in enumerate(sorted(names))}
    sizes, strides = ([_number(one, known) for one in each] for each in (made.sizes, made.strides))
    return prod(sizes) == 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))


def _number(node: ast.expr, known: Mapping[str, int]) -> int:
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, known), _number(node.right, known)
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else left - right
    raise NotPrinted(f"a size is {ast.unparse(node):.60}")


def operators(name: str) -> str:
    """The operators that a kernel fuses, from its name: `cpp_fused_add_gelu_0` → "add gelu"."""
    words = name.partition("fused_")[2].rpartition("_")[0]
    return " ".join(filter(None, words.split("_"))) or "one operator"
