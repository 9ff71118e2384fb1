"""Findings in Python candidates (Triton and other Python languages), from the syntax tree.

Names are followed through imports and simple aliases (`import ctypes as c`, `from os import fork`,
`run = os.system`), and comments and strings are skipped. In what Triton runs on the device
only names count: `.sum()` is no library there, but Triton's interpreter runs it as plain Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from campaigns.rules.verdict.finding_kinds import Finding, FindingKind
from campaigns.syntax.findings.names import PYTHON, PYTHON_METHODS, PYTHON_PREFIXES
from campaigns.syntax.findings.tables import KEEPS, tables, uses_in_python

JIT = ("jit", "autotune", "heuristics")
BROAD = ("Exception", "BaseException", "RuntimeError")
TENSOR_BASES = ("torch.Tensor", "torch.nn.Parameter")
# Names of other modules that need no import.
BUILTINS = ("builtins", "__builtins__", "object", "type")
SETTERS = ("setattr", "builtins.setattr", "object.__setattr__", "type.__setattr__")
# Tables of other modules' names; who writes to one replaces what stands there.
TABLES = ("__dict__", "sys.modules")
CACHES = ("functools.cache", "functools.lru_cache", "functools.cached_property")
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINED = (*FUNCTIONS, ast.ClassDef)
# Made once, when the function is defined.
MUTABLE = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
MAKERS = ("dict", "list", "set", "collections.defaultdict", "collections.OrderedDict")
MOST_PARTS = 16
QUOTE = 200


def find_in_python(text: str) -> tuple[Finding, ...]:
    """All findings in source order; nothing for a text that does not parse (it will not build).

    Raises RecursionError or MemoryError for one that is nested too deeply.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return _Reader(text, tree).read()


class _Reader:
    """One pass over a module."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._lines = text.split("\n")
        self._tree = tree
        self._names = _meanings(tree)
        self._globals = set(_module_names(tree.body))
        # A name that the candidate gives a function or class of its own is not the builtin.
        self._own = {node.name for node in ast.walk(tree) if isinstance(node, DEFINED)}
        self._foreign = {name.split(".")[0] for name in self._names.values()} | {*BUILTINS}
        self._heads = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self._selves = {id(node) for node in self._own_attributes()}

    def read(self) -> tuple[Finding, ...]:
        found = {
            (getattr(node, "lineno", 1), kind, what)
            for node, on_host in self._nodes()
            for kind, what in self._look(node, on_host)
        }
        found |= {(getattr(node, "lineno", 1), FindingKind.CACHE, w) for node, w in self._kept()}
        kept = {name: line.lineno for line in self._tree.body for name in _module_names([line])}
        answers = tables(uses_in_python(self._tree), kept)
        found |= {(kept[n], FindingKind.ANSWER_TABLE, f"{n} {KEEPS}") for n in answers}
        quotes = [line.strip()[:QUOTE] for line in self._lines]
        return tuple(
            Finding(kind, line, what, quotes[line - 1]) for line, kind, what in sorted(found)
        )

    def _nodes(self) -> Iterator[tuple[ast.AST, bool]]:
        """Every node, and whether it is outside of all functions that run on the device."""
        waiting: list[tuple[ast.AST, bool]] = [(self._tree, True)]
        while waiting:
            parent, on_host = waiting.pop()
            for child in ast.iter_child_nodes(parent):
                here = on_host and not (isinstance(child, FUNCTIONS) and self._on_device(child))
                waiting.append((child, here))
                yield child, here

    def _on_device(self, function: Function) -> bool:
        """Whether it is decorated by Triton's own; anybody can call a function `jit`."""
        called = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
        names = [self._full(decorator).split(".") for decorator in called]
        return any(name[0] == "triton" and name[-1] in JIT for name in names)

    def _look(self, node: ast.AST, on_host: bool) -> Iterator[tuple[FindingKind, str]]:
        if not on_host:
            # A name alone counts, anywhere in the source.
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._imported(node)
            elif isinstance(node, ast.Call) and (kind := self._kind_of(self._full(node.func))):
                yield kind, f"{self._full(node.func)}()"
            return
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
        if look is not None:
            yield from look(node)  # type: ignore[operator]

    def _kind_of(self, name: str) -> FindingKind | None:
        if name.split(".")[0] in self._own:
            return None
        return PYTHON.get(name) or _by_prefix(name)

    def _operator(self, node: ast.BinOp) -> Iterator[tuple[FindingKind, str]]:
        if isinstance(node.op, ast.MatMult):
            yield FindingKind.LIBRARY, "@ multiplies matrices outside a kernel"

    def _class(self, node: ast.ClassDef) -> Iterator[tuple[FindingKind, str]]:
        if self._is_tensor(node):
            yield FindingKind.LAZY_OUTPUT, f"class {node.name} is a tensor"

    def _decorated(self, node: ast.FunctionDef) -> Iterator[tuple[FindingKind, str]]:
        for decorator in node.decorator_list:
            name = self._full(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name in CACHES:
                yield FindingKind.CACHE, f"{name} keeps what {node.name} returns"

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[FindingKind, str]]:
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            if kind := _by_prefix(name):
                yield kind, f"{name} is imported"

    def _called(self, node: ast.Call) -> Iterator[tuple[FindingKind, str]]:
        name = self._full(node.func)
        if kind := self._kind_of(name):
            yield kind, f"{name}()"
        elif name in SETTERS and node.args:
            target = self._full(node.args[0])
            if target.split(".")[0] in self._foreign:
                yield FindingKind.PATCHING, f"setattr on {target}"
        elif (asked := self._asked_for(name, node)) and (kind := self._kind_of(asked)):
            yield kind, f"{asked} is looked up"
        elif isinstance(node.func, ast.Attribute) and node.func.attr in PYTHON_METHODS:
            yield PYTHON_METHODS[node.func.attr], f".{node.func.attr}()"

    def _asked_for(self, name: str, node: ast.Call) -> str:
        """`torch.mm` of `getattr(torch, "mm")`; "" for anything else."""
        match node.args:
            case [owner, ast.Constant(value=str(attribute)), *_] if name.endswith("getattr"):
                return f"{self._full(owner)}.{attribute}"
        return ""

    def _attribute(self, node: ast.Attribute) -> Iterator[tuple[FindingKind, str]]:
        name = self._full(node)
        # Handed on under another name; a call is told of as a call.
        handed_on = isinstance(node.ctx, ast.Load) and id(node) not in self._heads
        if handed_on and (kind := PYTHON.get(name)):
            yield kind, f"{name} is handed on"
        if isinstance(node.ctx, ast.Load) and node.attr in ("_version", "__code__", "__globals__"):
            kind = FindingKind.IDENTITY_KEY if node.attr == "_version" else FindingKind.DETECTION
            yield kind, f".{node.attr} is read"

    def _caught(self, node: ast.ExceptHandler) -> Iterator[tuple[FindingKind, str]]:
        raised = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        broad = any(kind is None or self._full(kind) in BROAD for kind in kinds)
        if broad and not raised:
            yield FindingKind.FALLBACK, "a broad except goes on without raising"

    def _assigned(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign
    ) -> Iterator[tuple[FindingKind, str]]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        # A switch or a number is a setting; what runs in somebody's place is no literal.
        setting = isinstance(node.value, ast.Constant)
        for target in targets:
            if isinstance(target, ast.Subscript):
                yield from self._entered(target)
            if not isinstance(target, ast.Attribute) or id(target) in self._selves:
                continue
            name = self._full(target)
            if name.split(".")[0] in self._foreign:
                kind = FindingKind.GLOBAL_STATE if setting else FindingKind.PATCHING
                yield kind, f"{name} is {'set' if setting else 'replaced'}"
            elif target.attr in ("data", "__class__"):
                yield FindingKind.LAZY_OUTPUT, f".{target.attr} is replaced"

    def _entered(self, target: ast.Subscript) -> Iterator[tuple[FindingKind, str]]:
        name = self._full(target.value)
        if name == "os.environ":
            yield FindingKind.GLOBAL_STATE, "os.environ is set"
        elif name.endswith(TABLES) and name.split(".")[0] in self._foreign:
            yield FindingKind.PATCHING, f"an entry of {name} is replaced"

    def _own_attributes(self) -> Iterator[ast.Attribute]:
        """`self.data = …` in a class that is no tensor: a name of the candidate's own."""
        for owner in ast.walk(self._tree):
            if isinstance(owner, ast.ClassDef) and not self._is_tensor(owner):
                for method in owner.body:
                    if isinstance(method, FUNCTIONS) and method.args.args:
                        me = method.args.args[0].arg
                        hung = _hung_on(method, ast.walk(method))
                        yield from (each for each in hung if _root(each) == me)

    def _is_tensor(self, owner: ast.ClassDef) -> bool:
        return any(self._full(base) in TENSOR_BASES for base in owner.bases)

    def _kept(self) -> Iterator[tuple[ast.AST, str]]:
        """What a function writes to and outlives the call: module-level names, its own defaults."""
        for function, on_host in self._nodes():
            if not on_host or not isinstance(function, FUNCTIONS):
                continue
            nodes = list(ast.walk(function))
            declared = {
                name
                for node in nodes
                if isinstance(node, ast.Global | ast.Nonlocal)
                for name in node.names
            }
            args = function.args
            own = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
            stored = (one for one in nodes if isinstance(one, ast.Name))
            own |= {one.id for one in stored if isinstance(one.ctx, ast.Store)}
            local = own - declared
            for node in nodes:
                name = _written(node)
                module = name not in local and (name in self._globals or name in self._own)
                if name is not None and (name in declared or module):
                    yield node, f"{name} of the module is written in {function.name}"
            for default in (*function.args.defaults, *function.args.kw_defaults):
                made = isinstance(default, ast.Call) and self._full(default.func) in MAKERS
                if default is not None and (made or isinstance(default, MUTABLE)):
                    yield default, f"a default of {function.name} is kept between calls"
            for node in _hung_on(function, nodes):
                if id(node) not in self._selves:
                    yield node, f"{ast.unparse(node)} is kept on an argument"

    def _full(self, node: ast.AST | None) -> str:
        """The dotted name with aliases undone; "" for anything else.

        So it is for attributes of what is not imported: `signal.shape` is some tensor's.
        """
        first, *rest = _dotted(node) or [""]
        if rest and first not in self._names and first not in BUILTINS:
            return ""
        return ".".join((self._names.get(first, first), *rest))


def _meanings(tree: ast.Module) -> dict[str, str]:
    """Local name → what it stands for, imports anywhere and plain aliases at module level."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.split(".")[0]
                found[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Attribute() | ast.Name()):
                first, *rest = _dotted(node.value) or [""]
                if first in found:
                    found[alias] = ".".join((found[first], *rest))
    return found


def _dotted(node: ast.AST | None) -> list[str]:
    """`a.b.c` in parts; none for what is more than names, or longer than any of ours."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _module_names(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _by_prefix(name: str) -> FindingKind | None:
    kinds = (k for prefix, k in PYTHON_PREFIXES.items() if f"{name}.".startswith(f"{prefix}."))
    return next(kinds, None)


def _hung_on(function: Function, nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    """Attributes that a function sets on what it was given."""
    given = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()) if name in given:
                yield node


def _written(node: ast.AST) -> str | None:
    """The name that a statement changes: by item, attribute, mutating method, or assignment."""
    changing = ("append", "add", "update", "setdefault", "extend", "insert", "pop", "clear")
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return _root(node.value)
    match node:
        case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in changing:
            return _root(owner)
    return None


def _root(node: ast.expr) -> str | None:
    """`a` of `a.b[c].d`."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
