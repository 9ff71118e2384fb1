"""What a kernel file and a reference define, read without running them."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.origins import mark, origins
from campaigns.evaluator.contract.programs import ENTRY
from campaigns.evaluator.contract.signature import (
    ELEMENTS,
    FLOATS,
    INTEGERS,
    Parameter,
    TooSlow,
    read_parameters,
)
from campaigns.evaluator.contract.signature import ENTRY as SOLVE
from campaigns.problems.import_.draft import DraftError, ReferenceCode, Returned
from campaigns.problems.import_.updates import Effects, is_none
from campaigns.syntax.c_macros import written_out

ON_GPU = re.compile(r"""(['"])cuda(?::\d+)?\1""")
# Plain char may be signed or not.
BYTES = {"unsigned char": "uint8", "signed char": "int8"}
LAUNCHED = {"jit", "autotune", "heuristics"}
# What an argument is called that a call writes, where nothing else tells.
OUTPUT_NAMES = {"out", "output", "outputs", "dst", "y_out", "result", "c_out"}


@dataclass(frozen=True, slots=True)
class PythonEntry:
    """A function, or an nn.Module, that launches a kernel.

    returns: whether it returns its outputs, and `returned` what these are. made_with: of a module,
    see `ReferenceCode`. defaults: as source. fixed: arguments that are the same source text in
    every call. applied: whether it is an autograd.Function, called by position. aliases: other
    names that it is called by. taken: the places of those answers that are outputs, () for the
    first ones.
    """

    name: str
    takes: tuple[str, ...]
    defaults: tuple[tuple[str, str], ...]
    returns: bool
    is_module: bool = False
    made_with: str = ""
    returned: tuple[Returned, ...] = (Returned(),)
    fixed: tuple[tuple[str, str], ...] = ()
    applied: bool = False
    aliases: frozenset[str] = frozenset()
    taken: tuple[int, ...] = ()

    @property
    def answers(self) -> int:
        """How many values it returns."""
        return len(self.returned)


def parsed(text: str, file_name: str) -> ast.Module:
    """Raises DraftError naming file and line."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line, said = getattr(error, "lineno", 1), getattr(error, "msg", str(error))
        raise DraftError("kernel", f"{file_name}:{line}: {said}") from None


def on_any_device(text: str, device: str) -> str:
    """The same source with what `device` names in the place of cuda."""
    return ON_GPU.sub(device, text).replace(".cuda()", f".to({device})")


def python_entry(text: str, file_name: str, wanted: str = "") -> PythonEntry:
    """The function to call: the named one, `run_kernel`, or the only one that launches a kernel.

    Raises DraftError, which lists what there is.
    """
    tree = parsed(text, file_name)
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef) and _is_module(n)}
    module = wanted if wanted in classes else "" if wanted else "ModelNew"
    if module in classes:
        code = _module_code(text, classes[module])
        return PythonEntry(code.name, code.takes, (), True, is_module=True, returned=code.returned)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    jitted = {node.name for node in functions if is_jitted(node)}
    plain = {node.name: node for node in functions if node.name not in jitted}
    launchers = [name for name, node in plain.items() if _launches(node, jitted)]
    for name in (wanted, ENTRY) if wanted else (ENTRY,):
        if name in plain:
            return function_entry(plain[name], tree)
    if wanted:
        raise DraftError("entry", f"{wanted!r}; {file_name} defines: {', '.join(plain) or 'none'}")
    if len(launchers) == 1:
        return function_entry(plain[launchers[0]], tree)
    if not launchers:
        raise DraftError(
            "kernel",
            f"{file_name}: no function launches a kernel; needed: one that does, such as "
            f"{ENTRY}(x, out), beside the @triton.jit function",
        )
    raise DraftError(
        "entry", f"several functions launch a kernel; accepted: {', '.join(launchers)}"
    )


def function_entry(node: ast.FunctionDef, tree: ast.Module, name: str = "") -> PythonEntry:
    """name: of an autograd.Function whose forward it is, which is not given its context."""
    return PythonEntry(
        name or node.name,
        _takes(node.args)[1 if name else 0 :],
        tuple((n, ast.unparse(one)) for n, one in parameters(node.args) if one is not None),
        bool(_returned(node)),
        returned=_answers(node, tree)[0],
        applied=bool(name),
    )


def parameters(arguments: ast.arguments) -> list[tuple[str, ast.expr | None]]:
    """The names of a function's parameters in order, `self` left out, each with its default."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    listed = [*zip(plain, defaults, strict=True)]
    listed += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [(one.arg, default) for one, default in listed if one.arg != "self"]


def _takes(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(name for name, _ in parameters(arguments))


def _optional(arguments: ast.arguments) -> frozenset[str]:
    return frozenset(name for name, default in parameters(arguments) if default is not None)


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    """What it returns, its inner functions left out."""
    found: list[ast.expr] = []
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Return) and node.value and not is_none(node.value):
            found.append(node.value)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _answers(
    function: ast.FunctionDef, tree: ast.Module
) -> tuple[tuple[Returned, ...], frozenset[str]]:
    """What a function returns, and which of its arguments it updates."""
    effects, count = Effects(function, tree), answers_of(function, tree)
    alike = len(effects.returned) == count
    return effects.returned if alike else (Returned(),) * count, frozenset(effects.updated)


def answers_of(function: ast.FunctionDef, tree: ast.Module, deepest: int = 4) -> int:
    """How many values a function returns, as far as its module tells; 0 for none."""
    return max((_values_of(one, tree, deepest) for one in _returned(function)), default=0)


def _values_of(node: ast.expr, tree: ast.Module, deepest: int) -> int:
    if isinstance(node, ast.Tuple):
        return len(node.elts)
    if not isinstance(node, ast.Call):
        return 1
    called = ast.unparse(node.func).removesuffix(".apply")
    for one in tree.body if deepest else ():
        if getattr(one, "name", "") == called:
            bodies = one.body if isinstance(one, ast.ClassDef) else [one]
            own = (f for f in bodies if isinstance(f, ast.FunctionDef))
            named = (f for f in own if f.name in (called, "forward"))
            return max((answers_of(each, tree, deepest - 1) for each in named), default=1)
    return 1


def is_jitted(node: ast.FunctionDef) -> bool:
    """Whether it is a kernel of Triton's; torch has a `jit.script` of its own."""
    names = {ast.unparse(one).split("(")[0].split(".")[-1] for one in node.decorator_list}
    return bool(LAUNCHED & names)


def _launches(node: ast.FunctionDef, jitted: set[str]) -> bool:
    """Whether it calls `kernel[grid](…)`."""
    return any(
        isinstance(one, ast.Subscript)
        and isinstance(one.value, ast.Name)
        and one.value.id in jitted
        for one in ast.walk(node)
    )


def reference_code(text: str, file_name: str, wanted: str = "") -> ReferenceCode:
    """The function or `nn.Module` that gives the right answer. Raises DraftError."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line, said = getattr(error, "lineno", 1), getattr(error, "msg", str(error))
        raise DraftError("reference", f"{file_name}:{line}: {said}") from None
    jitted = {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and is_jitted(n)}
    functions = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name not in jitted
    }
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    modules = {node.name: node for node in classes if _is_module(node)}
    name = wanted or _only_reference({**functions, **modules}, jitted)
    if name in modules:
        return _module_code(needed_by(text, name) if jitted else text, modules[name])
    if name in functions:
        node = functions[name]
        text = needed_by(text, name) if jitted else text
        returned, updates = _answers(node, tree)
        return ReferenceCode(
            text,
            name,
            _takes(node.args),
            bool(_returned(node)),
            _optional(node.args),
            returned=returned,
            updates=updates,
        )
    listed = ", ".join((*functions, *modules)) or "no function and no nn.Module"
    said = f"{wanted!r}; " if wanted else "which one gives the right answer? "
    raise DraftError("reference", f"{said}{file_name} defines: {listed}")


def _only_reference(found: dict[str, ast.AST], jitted: set[str]) -> str:
    """The one that is called a reference, else the only one that no other calls; "" without one."""
    named = [name for name in found if "ref" in name.lower() or name.lower().endswith("torch")]
    usual = [name for name in ("Model", "reference") if name in found]
    own = [
        name
        for name, node in found.items()
        if not (isinstance(node, ast.FunctionDef) and _launches(node, jitted))
    ]
    used = set().union(*(names_in(found[n]) - {n} for n in own))
    for choice in (usual, named, own, [n for n in own if n not in used]):
        if len(choice) == 1:
            return choice[0]
    return ""


def _is_module(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split(".")[-1] == "Module" for base in node.bases)


def _module_code(text: str, node: ast.ClassDef) -> ReferenceCode:
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    forward = next((one for one in methods if one.name == "forward"), None)
    if forward is None:
        raise DraftError("reference", f"{node.name}: an nn.Module with a forward is needed")
    returned, updates = _answers(forward, ast.parse(text))
    return ReferenceCode(
        text,
        node.name,
        _takes(forward.args),
        True,
        _optional(forward.args),
        is_module=True,
        returned=returned or (Returned(),),
        updates=updates,
    )


@dataclass(frozen=True, slots=True)
class PointerArg:
    """A parameter of `solve`: its dtype, or that of a number, and whether a call may write it.

    dtype: "" of a void*. spelt: its type in the source, without const and star. sides: of an array,
    as they are written. line: of the source.
    """

    name: str
    dtype: str
    pointer: bool
    written: bool
    spelt: str
    sides: tuple[str, ...] = ()
    line: int = 1


def solve_parameters(
    text: str,
    file_name: str,
    name: str = SOLVE,
    template: Mapping[str, str] | None = None,
    **more: bool,
) -> list[PointerArg]:
    """The parameters of a C++ or CUDA kernel's `solve`, or another function's. Raises DraftError.

    template, more: as of `read_parameters`.
    """
    try:
        found = read_parameters(text, file_name, name, template, **more)
        if not all(one.name.isidentifier() for one in found):
            found = read_parameters(written_out(text, name), file_name, name, template, **more)
    except (BuildFailed, TooSlow) as error:
        raise DraftError("kernel", str(error)) from None
    return [_pointer(one, file_name) for one in found]


def _pointer(one: Parameter, file_name: str) -> PointerArg:
    if not one.name.isidentifier():
        raise DraftError(
            "kernel",
            f"{file_name}:{one.line}: {one.name or 'a parameter without a name'}: is it a macro? "
            "accepted: parameters as a compiler reads them, such as double A[ROWS][COLS]; "
            "`gcc -E` writes a file so",
        )
    usual = BYTES.get(one.type, "") if one.pointer else "int32"
    dtype = next((name for name, known in ELEMENTS.items() if one.type in known), usual)
    is_known, kinds = bool(dtype), [*(spellings[0] for spellings in ELEMENTS.values()), "void"]
    if not one.pointer:
        is_known, kinds = one.type in (*INTEGERS, *FLOATS), ["int", "long", "float", "double", "…"]
    if not is_known and one.type != "void":
        raise DraftError(
            "kernel",
            f"{file_name}:{one.line}: {one.name}: {one.type}{'*' * one.pointer}; accepted: "
            f"{', '.join(kinds)}",
        )
    written = one.pointer and not one.is_const
    return PointerArg(one.name, dtype, one.pointer, written, one.type, one.sides, one.line)


def needed_by(text: str, *names: str, file: str = "") -> str:
    """The statements at a module's top level that give these names, and what those need.

    An import of everything is kept: it may give any. file: marks of it are put above each part.
    """
    tree = ast.parse(text)
    binds = {node: bound_by(node) for node in tree.body}
    wanted, kept = {*names, "*"}, set()
    while more := {node for node in tree.body if node not in kept and binds[node] & wanted}:
        kept |= more
        wanted = wanted.union(*map(names_in, more))
    lines, known, parts = text.splitlines(), origins(text, file), []
    for at, end in ((first_line(one) - 1, one.end_lineno) for one in tree.body if one in kept):
        above = [mark(known[at][1], known[at][0], "#")] if file else []
        parts.append("\n".join([*above, *lines[at:end]]))
    return "\n\n\n".join(parts) + "\n"


def names_in(node: ast.AST) -> set[str]:
    """The names at its module's top level that a statement reads; locals are none of them."""
    found: set[str] = set()
    tables = [symtable.symtable(ast.unparse(node), "<part>", "exec")]
    while tables:
        table = tables.pop()
        outside = table.get_type() == "module"
        found |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_referenced() and (outside or one.is_global())
        }
        tables += table.get_children()
    return found


def first_line(node: ast.stmt) -> int:
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in marks)])


def runs_at_import(text: str) -> bool:
    """Whether a module does something when it is imported, such as to test itself."""
    return any(
        isinstance(node, ast.Expr | ast.For | ast.While | ast.With | ast.Assert)
        and not isinstance(getattr(node, "value", None), ast.Constant)
        for node in ast.parse(text).body
    )


def bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement at the top level gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).split(".")[0] for one in node.names}
    if isinstance(node, ast.AnnAssign):
        given = node.value is not None and isinstance(node.target, ast.Name)
        return {ast.unparse(node.target)} if given else set()
    if isinstance(node, ast.Assign):
        return {t.id for n in node.targets for t in ast.walk(n) if isinstance(t, ast.Name)}
    if isinstance(node, ast.If | ast.Try):
        return set().union(*map(bound_by, inner_statements(node)))
    return set()


def inner_statements(node: ast.If | ast.Try) -> list[ast.stmt]:
    """What a statement at the top level does in one case or another."""
    handled = [one for handler in getattr(node, "handlers", []) for one in handler.body]
    return [*node.body, *node.orelse, *handled, *getattr(node, "finalbody", [])]
