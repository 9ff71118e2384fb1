"""C++ recipes for counted loops: vector lanes, all cores, cheaper arithmetic."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.evidence import Facts
from campaigns.proposers.recipes.base import Recipe, single, template
from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    Loop,
    counted_loop,
    declared_name,
    declared_names,
    functions,
    indent_of,
    innermost_loops,
    line_start,
    parameters,
    parse,
    pragma_before,
    starts_line,
    statements,
    text_of,
    walk,
)
from campaigns.syntax.dependence import examine
from campaigns.syntax.edits import Edit, edited

NATIVE_FLAGS = ("-O3", "-march=native")
SIMD_FLAGS = (*NATIVE_FLAGS, "-fopenmp-simd", "-fno-math-errno")
EXPONENTIALS = frozenset({"expf", "std::exp", "std::expf"})
SCALAR_CALLS = EXPONENTIALS | {"exp", "logf", "log", "std::log", "fmaxf", "fminf"}


def callees(root: Node) -> dict[str, tuple[str, ...]]:
    """The parameter types of every function of this file, by name."""
    return {
        name: tuple(kind for kind, _ in parameters(node)) for name, node in functions(root).items()
    }


def calls_in(node: Node) -> set[str]:
    """The names of everything that is called inside the node."""
    return {text_of(n.child_by_field_name("function")) for n in walk(node, "call_expression")}


def simd_edits(root: Node, loops: Iterable[Loop]) -> list[Edit]:
    """One `#pragma omp simd` for each loop that may run in any order and has no pragma yet."""
    edits = []
    for loop in loops:
        found = examine(loop, callees(root))
        if not found.independent or pragma_before(loop.node) or not starts_line(loop.node):
            continue
        pragma = f"{indent_of(loop.node)}#pragma omp simd{found.clauses}\n"
        edits.append(Edit(line_start(loop.node), line_start(loop.node), pragma))
    return edits


def solve_loops(root: Node) -> list[Loop]:
    """The innermost counted loops of `solve`, in source order."""
    solve = functions(root).get("solve")
    return innermost_loops(solve) if solve is not None else []


@Recipe(
    "cpp.simd_loops",
    "Vectorise the innermost loops",
    category=Category.INSTRUCTIONS,
    change="`#pragma omp simd` with reductions before each innermost loop that may run in any "
    "order; built with -O3 -march=native.",
    rationale="A sum or a maximum in one float variable makes every turn wait for the one "
    "before; named as a reduction it runs in as many lanes as the machine has.",
    risks="Sums are added in another order, which moves the last bits of the result.",
    expected=lambda facts: 1.3 if facts.bound == "memory" and (facts.share or 0) > 0.3 else 2.5,
)
def simd_loops(situation: Situation) -> tuple[Variant, ...]:
    """Annotate every loop without a call that stays scalar; refuse when there is none."""
    root = parse(situation.source.text)
    if root is None:
        return ()
    by_pointer = {name for name, kinds in callees(root).items() if "*" in "".join(kinds)}
    scalar = SCALAR_CALLS | by_pointer
    loops = [loop for loop in solve_loops(root) if not calls_in(loop.body) & scalar]
    edits = simd_edits(root, loops)
    return single(edited(situation.source, edits, flags=SIMD_FLAGS)) if edits else ()


HELPER = "exp_lanes"


@Recipe(
    "cpp.vector_exp",
    "Compute the exponentials in vector lanes",
    category=Category.ALGORITHM,
    change="Calls of expf inside loops become calls of an inline polynomial "
    "(range reduction by powers of two, degree 6), and those loops get `#pragma omp simd`.",
    rationale="libm's expf is one call per value and keeps its loop scalar; inline arithmetic "
    "of the same accuracy class fills all vector lanes.",
    risks="About 2 units in the last place of error, and results below 1e-38 become about 1e-38.",
    expected=lambda facts: 5.0,
)
def vector_exp(situation: Situation) -> tuple[Variant, ...]:
    """Replace the calls in `solve`'s innermost loops; refuse when no such loop calls expf."""
    source = situation.source
    root = parse(source.text)
    if root is None or HELPER in functions(root):
        return ()
    loops = [loop for loop in solve_loops(root) if calls_in(loop.body) & EXPONENTIALS]
    edits = simd_edits(root, loops)
    if not edits:
        return ()
    for loop in loops:
        for call in walk(loop.body, "call_expression"):
            name = call.child_by_field_name("function")
            if name is not None and text_of(name) in EXPONENTIALS:
                edits.append(Edit(name.start_byte, name.end_byte, HELPER))
    includes = list(walk(root, "preproc_include"))
    place = includes[-1].end_byte if includes else 0
    edits.append(Edit(place, place, "\n" + template("exp_lanes.cpp")))
    return single(edited(source, edits, flags=SIMD_FLAGS))


def by_cores(facts: Facts) -> float:
    """Nearly linear in the cores where arithmetic binds, less where memory is shared."""
    cores = facts.cores or 2
    return 1.0 + (cores - 1) * (0.45 if facts.bound == "memory" else 0.9)


@Recipe(
    "cpp.parallel_outer",
    "Share the outer loop among all cores",
    category=Category.LAUNCH,
    change="`#pragma omp parallel for` before each outer loop of solve whose turns are "
    "independent; built with -fopenmp.",
    rationale="One thread uses one core's arithmetic and one core's share of the memory "
    "bandwidth; the turns of the outer loop write to different places, so all cores can take "
    "some.",
    risks="Starting threads costs microseconds per call, so very small cases may lose.",
    expected=by_cores,
)
def parallel_outer(situation: Situation) -> tuple[Variant, ...]:
    """Annotate the loops that stand directly in `solve`; refuse when none is independent."""
    root = parse(situation.source.text)
    solve = functions(root).get("solve") if root is not None else None
    body = solve.child_by_field_name("body") if solve is not None else None
    if root is None or body is None:
        return ()
    edits = []
    for node in statements(body):
        loop = counted_loop(node) if node.type == "for_statement" else None
        if loop is None or "parallel" in pragma_before(node) or not starts_line(node):
            continue
        found = examine(loop, callees(root))
        before = node.prev_named_sibling
        if found.independent and before is not None and "omp simd" in pragma_before(node):
            both = text_of(before).replace("omp simd", "omp parallel for simd")
            edits.append(Edit(before.start_byte, before.end_byte, both))
        elif found.independent:
            pragma = f"{indent_of(node)}#pragma omp parallel for schedule(static){found.clauses}\n"
            edits.append(Edit(line_start(node), line_start(node), pragma))
    return single(edited(situation.source, edits, flags=("-fopenmp",))) if edits else ()


@Recipe(
    "cpp.reciprocal",
    "Divide once per row instead of once per value",
    category=Category.INSTRUCTIONS,
    change="Divisions in an innermost loop by a float that does not change in it become "
    "multiplications by its reciprocal, computed once before the loop.",
    rationale="A division occupies its unit for several times as long as a multiplication.",
    risks="One more rounding per value.",
    expected=lambda facts: 1.03 if facts.bound == "memory" else 1.1,
)
def reciprocal(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite every such division in `solve`; refuse when there is none."""
    root = parse(situation.source.text)
    if root is None:
        return ()
    edits: list[Edit] = []
    floats: set[str] = set()
    solve = functions(root).get("solve")
    for node in walk(solve, "declaration") if solve is not None else ():
        pointer = next(walk(node, "pointer_declarator", "array_declarator"), None)
        if text_of(node.child_by_field_name("type")) == "float" and pointer is None:
            floats |= declared_names(node)
    for loop in solve_loops(root):
        edits += _loop_edits(loop, floats)
    return single(edited(situation.source, edits)) if edits else ()


def _loop_edits(loop: Loop, floats: set[str]) -> list[Edit]:
    changed = declared_names(loop.node)
    changed |= {
        declared_name(write.named_children[0])
        for write in walk(loop.body, *ASSIGNMENTS)
        if write.named_children[0].type == "identifier"
    }
    edits: list[Edit] = []
    divisors: dict[str, None] = {}
    for node in walk(loop.body, "binary_expression", "assignment_expression"):
        operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
        divisor = text_of(right)
        if operator is None or right is None or divisor not in floats - changed:
            continue
        if text_of(operator) in ("/", "/="):
            product = text_of(operator).replace("/", "*")
            edits.append(Edit(operator.start_byte, operator.end_byte, product))
            edits.append(Edit(right.start_byte, right.end_byte, f"inverse_{divisor}"))
            divisors[divisor] = None
    first, before = loop.node, loop.node.prev_named_sibling
    while before is not None and before.type == "preproc_call":
        first, before = before, before.prev_named_sibling
    indent, place = indent_of(loop.node), line_start(first)
    lines = "".join(f"{indent}const float inverse_{d} = 1.0f / {d};\n" for d in divisors)
    return [*edits, Edit(place, place, lines)] if divisors else []
