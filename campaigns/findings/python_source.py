"""Findings in Python candidates (Triton and other Python languages), from the syntax tree.

Names are followed through imports and simple aliases (`import ctypes as c`, `from os import fork`),
comments and strings are not looked at, and what runs on the device (`@triton.jit`) is left out of
everything but hidden code: it has no way to do most of this.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from campaigns.findings.kinds import Finding, Kind
from campaigns.findings.names import PYTHON, PYTHON_METHODS, PYTHON_PREFIXES

ENTRY = "run_kernel"
JIT = ("jit", "autotune", "heuristics")
BROAD = ("Exception", "BaseException", "RuntimeError")
TENSOR_BASES = ("torch.Tensor", "torch.nn.Parameter")
# Modules whose attributes no candidate has to set, other than its own.
FOREIGN = ("torch", "triton", "time", "builtins", "sys", "os", "math", "numpy")
CACHES = ("functools.cache", "functools.lru_cache", "functools.cached_property")
QUOTE = 200


def find_in_python(text: str) -> tuple[Finding, ...]:
    """All findings in source order; nothing for a text that does not parse (it will not build).

    Raises RecursionError or MemoryError for one that is nested too deeply.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(_Reader(text, tree).read())


class _Reader:
    """One pass over a module."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._lines = text.split("\n")
        self._tree = tree
        self._names = dict(_imports(tree))
        self._globals = set(_module_names(tree))

    def read(self) -> list[Finding]:
        found = [
            self._finding(kind, node, what)
            for node in _host_nodes(self._tree)
            for kind, what in self._look(node)
        ]
        found += [self._finding(Kind.CACHE, node, what) for node, what in self._kept()]
        return sorted(set(found), key=lambda each: (each.line, each.kind, each.what))

    def _look(self, node: ast.AST) -> Iterator[tuple[Kind, str]]:
        look = {
            ast.Import: self._imported,
            ast.ImportFrom: self._imported,
            ast.Call: self._called,
            ast.Attribute: self._attribute,
            ast.BinOp: self._operator,
            ast.ExceptHandler: self._caught,
            ast.ClassDef: self._class,
            ast.Assign: self._assigned,
            ast.AugAssign: self._assigned,
            ast.AnnAssign: self._assigned,
            ast.FunctionDef: self._decorated,
        }.get(type(node))
        return look(node) if look is not None else iter(())  # type: ignore[operator]

    def _operator(self, node: ast.BinOp) -> Iterator[tuple[Kind, str]]:
        if isinstance(node.op, ast.MatMult):
            yield Kind.LIBRARY, "@ multiplies matrices outside a kernel"

    def _class(self, node: ast.ClassDef) -> Iterator[tuple[Kind, str]]:
        if any(self._full(base) in TENSOR_BASES for base in node.bases):
            yield Kind.LAZY_OUTPUT, f"class {node.name} is a tensor"

    def _decorated(self, node: ast.FunctionDef) -> Iterator[tuple[Kind, str]]:
        for decorator in node.decorator_list:
            name = self._full(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name in CACHES:
                yield Kind.CACHE, f"{name} keeps what {node.name} returns"

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[Kind, str]]:
        for name in _modules(node):
            kind = _by_prefix(name)
            if kind is not None:
                yield kind, f"{name} is imported"

    def _called(self, node: ast.Call) -> Iterator[tuple[Kind, str]]:
        name = self._full(node.func)
        kind = PYTHON.get(name) or _by_prefix(name)
        if kind is not None:
            yield kind, f"{name}()"
        elif name in ("setattr", "builtins.setattr") and node.args:
            target = self._full(node.args[0])
            if target.split(".")[0] in FOREIGN:
                yield Kind.PATCHING, f"setattr on {target}"
        elif isinstance(node.func, ast.Attribute) and node.func.attr in PYTHON_METHODS:
            yield PYTHON_METHODS[node.func.attr], f".{node.func.attr}()"

    def _attribute(self, node: ast.Attribute) -> Iterator[tuple[Kind, str]]:
        if isinstance(node.ctx, ast.Load) and node.attr in ("_version", "__code__", "__globals__"):
            kind = Kind.IDENTITY_KEY if node.attr == "_version" else Kind.DETECTION
            yield kind, f".{node.attr} is read"

    def _caught(self, node: ast.ExceptHandler) -> Iterator[tuple[Kind, str]]:
        raised = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        broad = any(kind is None or self._full(kind) in BROAD for kind in kinds)
        if broad and not raised:
            yield Kind.FALLBACK, "a broad except goes on without raising"

    def _assigned(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign
    ) -> Iterator[tuple[Kind, str]]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if not isinstance(target, ast.Attribute):
                continue
            name = self._full(target)
            if name.startswith("torch.backends.") or name == "torch.default_dtype":
                yield Kind.GLOBAL_STATE, f"{name} is set"
            elif name.split(".")[0] in FOREIGN:
                yield Kind.PATCHING, f"{name} is replaced"
            elif target.attr in ("data", "__class__"):
                yield Kind.LAZY_OUTPUT, f".{target.attr} is replaced"

    def _kept(self) -> Iterator[tuple[ast.AST, str]]:
        """Module-level names that a function writes to: they outlive the call."""
        for function in _host_functions(self._tree):
            declared = {
                name
                for node in ast.walk(function)
                if isinstance(node, ast.Global | ast.Nonlocal)
                for name in node.names
            }
            local = _bound_in(function) - declared
            for node in ast.walk(function):
                name = _written(node)
                if name in declared or (name in self._globals - local and name is not None):
                    yield node, f"{name} of the module is written in {function.name}"

    def _full(self, node: ast.AST | None) -> str:
        """The dotted name with aliases undone, "" for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self._names.get(node.id, node.id))
        return ".".join(reversed(parts))

    def _finding(self, kind: Kind, node: ast.AST, what: str) -> Finding:
        line = getattr(node, "lineno", 1)
        return Finding(kind, line, what, self._lines[line - 1].strip()[:QUOTE])


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name → what it stands for, imports anywhere and plain aliases at module level."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    alias.asname or alias.name.split(".")[0],
                    (alias.name if alias.asname else alias.name.split(".")[0]),
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]


def _module_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _by_prefix(name: str) -> Kind | None:
    for prefix, kind in PYTHON_PREFIXES.items():
        if name == prefix or name.startswith(f"{prefix}."):
            return kind
    return None


def _host_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those inside functions that run on the device."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef) and _on_device(child):
            continue
        yield child
        yield from _host_nodes(child)


def _host_functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in _host_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def _on_device(function: ast.FunctionDef) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in JIT:
            return True
    return False


def _bound_in(function: ast.FunctionDef) -> set[str]:
    """Names that are the function's own: parameters and what it assigns."""
    args = function.args
    own = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    return own


def _written(node: ast.AST) -> str | None:
    """The plain name that a statement changes: by item, by mutating method, or by assignment."""
    changing = ("append", "add", "update", "setdefault", "extend", "insert", "pop", "clear")
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value.id if isinstance(node.value, ast.Name) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in changing and isinstance(owner, ast.Name):
            return owner.id
    return None
