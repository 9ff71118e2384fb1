"""Inductor's C++ as one plain source file: standard headers, loops and OpenMP pragmas."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from campaigns.evaluator.contract import Source
from campaigns.proposers.first.module import (
    InductorModule,
    Made,
    Names,
    NotPrinted,
    Run,
    Same,
    is_dense,
    operators,
    read_module,
)
from campaigns.proposers.recipes.base import TEMPLATES

LONGEST_CODE = 1000
FLAGS = ("-O3", "-march=native", "-fopenmp", "-fno-math-errno")
# Types of arguments and of memory to work in.
ELEMENTS = {
    "float64": "double",
    "float32": "float",
    "float16": "_Float16",
    "bfloat16": "bfloat16_t",
    "bool": "bool",
    "int": "int64_t",
    "float": "double",
}
SIGNATURE = re.compile(r'extern "C"\s+void\s+kernel\(([^)]*)\)\s*\{(.*)\}\s*', re.DOTALL)
# Lines that look after errors and threads, and say nothing of what is computed.
DROPPED = re.compile(
    r"inductor_cpu_integer_div_error|^int tid = omp_get_thread_num\(\);$|^TORCH_CHECK\(|^;?$"
)
INTEGER = "static_cast<int64_t>("
LITERAL = re.compile(r"static_cast<float>\((-?\d[\d.]*(?:e[+-]?\d+)?)\)")
LOOP = re.compile(r"for\(int64_t (\w+)=(.*?); \1<(.*); \1\+=(.*)\)$")
LOAD = re.compile(r"const auto (tmp\d+) = (\w+)\[")
NUMBER = re.compile(r"const auto (tmp\d+) = (-?\d[\d.]*(?:e[+-]?\d+)?f?);")
# Two names of an argument that a kernel reads and writes.
ALIAS = re.compile(r"auto (?!tmp)(\w+) = (\w+);")
SUM = re.compile(r"(\w+) = \1 \+ ")
MOST = re.compile(r"(\w+) = (max|min)_propagate_nan\(\1, ")
FREE = re.compile(r"const |\w+\[")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
CALLED = re.compile(r"(?<![\w:.>])([A-Za-z_]\w*)\(")
# What may be called beside functions of std and the helpers.
PLAIN = {"for", "if", "float", "double", "decltype", "int64_t", "bool", "omp_get_max_threads"}
PLAIN |= {"omp_get_thread_num"}
FOREIGN = re.compile(r"\b(?:at|c10|torch|aten)::|\bTORCH_|\bVectorized|\binductor_")
# Functions of floats that glibc has for several at once.
LANES = re.compile(r"\bstd::(exp|log|tanh|erf|sin|cos)\(")
LANE_CALLS = {f"{name}f" for name in ("exp", "log", "tanh", "erf", "sin", "cos")}
HAS_LANES = """\
// glibc computes these for several values at once, too; of itself it says so under -ffast-math
// alone. Loops with `omp simd` then stay in vector lanes.
#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)"""
IN_LANES = "#pragma omp declare simd notinbranch"
HELPERS = ("bfloat16_t", "max_propagate_nan", "min_propagate_nan")
# What each is included for.
HEADERS = {
    "algorithm": r"std::(min|max)\b",
    "cmath": "",
    "cstdint": "",
    "cstring": "memcpy",
    "limits": "numeric_limits",
    "memory": "unique_ptr",
    "omp.h": r"\bomp_get",
}

# A line, or the lines between two braces.
Block = list["str | Block"]


def cpp_source(text: str, inputs: Sequence[tuple[str, str]], note: str) -> Source:
    """A file with `solve`. inputs: name and kind of its arguments. Raises NotPrinted.

    note: one line that says where the kernel comes from.
    """
    module = read_module(text)
    taken = frozenset(WORD.findall(" ".join(module.kernels.values()))) | {"solve", *HELPERS}
    names = Names(module.args, [name for name, _ in inputs], taken)
    lines, written = _steps(module, names)
    body = "\n".join(lines)
    if "double" not in body:
        body = LANES.sub(r"\1f(", body)
    if found := FOREIGN.search(body):
        raise NotPrinted(f"it needs {found[0]} of torch's headers")
    helpers = [one for one in HELPERS if re.search(rf"\b{one}\b", body)]
    kinds = [kind for _, kind in inputs]
    helpers += ["bfloat16_t"] if "bfloat16" in kinds and "bfloat16_t" not in helpers else []
    called = {*CALLED.findall("\n".join(one for one in body.split("\n") if "#pragma" not in one))}
    unknown = called - PLAIN - {*HELPERS} - LANE_CALLS
    if foreign := sorted(one for one in unknown if not one.startswith(("tmp", "buf"))):
        raise NotPrinted(f"it calls {foreign[0]} of torch's headers")
    given = ", ".join(
        _parameter(names.of(arg), kind, is_written=names.of(arg) in written)
        for arg, kind in zip(module.args, kinds, strict=True)
    )
    solve = f'extern "C" void solve({given}) {{\n{body}\n}}\n'
    code = "\n\n".join([*_lanes(called), *map(_helper, sorted(helpers)), solve])
    headers = (f"#include <{one}>\n" for one, use in HEADERS.items() if re.search(use, code))
    return Source("kernel.cpp", f"// {note}\n\n{''.join(headers)}\n{code}", FLAGS)


def _lanes(called: set[str]) -> Iterator[str]:
    """Declarations of functions as glibc has them for vector lanes."""
    if used := sorted(called & LANE_CALLS):
        declared = (f'{IN_LANES}\nextern "C" float {name}(float) noexcept;' for name in used)
        yield "\n".join([HAS_LANES, *declared, "#endif"])


def _helper(name: str) -> str:
    return (TEMPLATES / f"{name}.cpp").read_text(encoding="utf-8").rstrip("\n")


def _parameter(name: str, kind: str, *, is_written: bool) -> str:
    element = ELEMENTS.get(kind, f"{kind}_t")
    if kind in ("int", "float"):
        return f"{element} {name}"
    return f"{'' if is_written else 'const '}{element}* {name}"


def _steps(module: InductorModule, names: Names) -> tuple[list[str], set[str]]:
    """The lines of `solve`, and the names of what it writes."""
    lines: list[str] = []
    written: set[str] = set()
    for step in module.steps:
        if isinstance(step, Made):
            if not is_dense(step):
                raise NotPrinted(f"{step.name} has gaps between its elements")
            names.add(step.name, step.name)
            kind = ELEMENTS.get(step.dtype, f"{step.dtype}_t")
            sizes = [names.written(size) for size in step.sizes]
            count = " * ".join(f"({one})" if " " in one else one for one in sizes if one != "1")
            count = count or "1"
            lines.append(f"    std::unique_ptr<{kind}[]> {step.name}_memory(new {kind}[{count}]);")
            lines.append(f"    {kind}* {step.name} = {step.name}_memory.get();")
        elif isinstance(step, Same):
            if step.view and ast.unparse(step.view[-1]) != "0":
                raise NotPrinted(f"{step.name} begins inside of {step.of}")
            own = f"({names.written(step.value)})" if step.value else names.of(step.of)
            names.add(step.name, own)
        elif step.is_library:
            raise NotPrinted(f"it calls a library for {step.name}")
        else:
            found, changed = _kernel(module.kernels[step.name], step, names)
            written |= changed
            lines += [f"    // Fused: {operators(step.name)}", *found]
    return lines, written


def _kernel(text: str, run: Run, names: Names) -> tuple[list[str], set[str]]:
    """The lines of one call of a kernel, and the names of what it writes."""
    found = SIGNATURE.search(text)
    if found is None:
        raise NotPrinted(f"{run.name} has no signature that is known")
    params = [one.split() for one in found[1].split(",")]
    if len(params) != len(run.args):
        raise NotPrinted(f"{run.name} is called with other arguments than it has")
    called, written = dict[str, str](), set[str]()
    for param, arg in zip(params, run.args, strict=True):
        said = names.written(arg)
        called[param[-1]] = said if said.isidentifier() else f"({said})"
        if "*" in "".join(param) and param[0] != "const":
            written.add(said)
    lines = [one.strip() for one in found[2].splitlines()]
    if any(len(line) > LONGEST_CODE for line in lines):
        raise NotPrinted(f"{run.name:.60} has a line of more than {LONGEST_CODE} characters")
    for line in lines:
        if alias := ALIAS.fullmatch(line):
            called[alias[1]] = called.get(alias[2], alias[2])
    kept = [one for one in lines if not (DROPPED.search(one) or ALIAS.fullmatch(one))]
    renamed = [WORD.sub(lambda word: called.get(word[0], word[0]), _plain(one)) for one in kept]
    return [*_shown(_collapsed(_tree(_without_unread(renamed))), 1)], written


def _plain(line: str) -> str:
    """One line without the casts and suffixes that change nothing."""
    line = line.replace("c10::convert<", "static_cast<").replace("at::BFloat16", "bfloat16_t")
    line = re.sub(r"\b(\d+)L\b", r"\1", line.replace("at::Half", "_Float16"))
    at = line.find(INTEGER)
    while at >= 0:
        inner, end = _inside(line, at + len(INTEGER) - 1)
        is_index = line[at - 1 : at] == "[" or "tmp" not in inner
        kept = inner if is_index else f"{INTEGER}{inner})"
        line = f"{line[:at]}{kept}{line[end + 1 :]}"
        at = line.find(INTEGER, at + len(kept))
    line = re.sub(r"\bx(\d+)\b", r"i\1", line)
    line = LITERAL.sub(lambda n: f"{n[1]}{'' if '.' in n[1] or 'e' in n[1] else '.0'}f", line)
    if loop := LOOP.match(line):
        step = f"++{loop[1]}" if loop[4] == "1" else f"{loop[1]} += {loop[4]}"
        return f"for (int64_t {loop[1]} = {loop[2]}; {loop[1]} < {loop[3]}; {step})"
    if line == "#pragma GCC ivdep":
        # Inductor says so where no turn needs another one.
        return "#pragma omp simd"
    if line.startswith("auto tmp"):
        name, _, value = line.removeprefix("auto ").partition(" = ")
        if value.startswith("float(") and _inside(value, 5)[1] == len(value) - 2:
            return f"const float {name} = {value[6:-2]};"
        value = re.sub(r"^decltype\((\w+)\)\(-\1\);$", r"-\1;", value)
        return f"const auto {name} = {value}" if "[&]" not in value else line
    return line


def _inside(line: str, start: int) -> tuple[str, int]:
    """What stands in the parenthesis that opens at `start`, and where that ends."""
    depth = 0
    for at in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if not depth:
            return line[start + 1 : at], at
    raise NotPrinted("a parenthesis does not end")


def _without_unread(lines: Sequence[str]) -> list[str]:
    """Without the memory of a thread that is only ever written."""
    kept = list(lines)
    for name in dict.fromkeys(re.findall(r"\blocal_buffer_data_\d+\b", "\n".join(lines))):
        uses = [one for one in kept if re.search(rf"\b(?:buf_)?{name}\b", one)]
        stores = re.compile(rf"{name}\[.*\] = (?!.*{name})|.*\b(?:buf_)?{name} = ")
        if all(stores.match(one) for one in uses):
            kept = [one for one in kept if one not in uses]
    return kept


def _tree(lines: Sequence[str]) -> Block:
    stack: list[Block] = [[]]
    for line in lines:
        if line == "{":
            inner: Block = []
            stack[-1].append(inner)
            stack.append(inner)
        elif line == "}" and len(stack) > 1:
            stack.pop()
        else:
            stack[-1].append(line)
    if len(stack) > 1:
        raise NotPrinted("a brace does not end")
    return stack[0]


def _collapsed(block: Block) -> Block:
    """Without braces around nothing but braces; one pragma for a loop that threads share."""
    while len(block) == 1 and isinstance(block[0], list):
        block = block[0]
    found: Block = []
    for one in block:
        if isinstance(one, str):
            found.append(one)
            continue
        inner = _collapsed(one)
        before = found[-1] if found else ""
        shared = inner[0] if inner and isinstance(inner[0], str) else ""
        alone = len(inner) == 3 and shared.startswith("#pragma omp for")
        if before == "#pragma omp parallel" and alone:
            found[-1:] = [shared.replace("omp for", "omp parallel for"), *inner[1:]]
            if inner[2] and not any(isinstance(each, list) for each in inner[2]):
                found[-3] = f"{found[-3]} simd"
        else:
            found.append(inner)
    return _with_lanes(found)


def _with_lanes(block: Block) -> Block:
    """With a pragma before each innermost loop that only adds up, or takes the largest."""
    found: Block = []
    for place, one in enumerate(block):
        inner = block[place + 1] if place + 1 < len(block) else ""
        is_loop = isinstance(one, str) and one.startswith("for (") and isinstance(inner, list)
        if is_loop and inner and not any(isinstance(each, list) for each in inner):
            last = inner[-1]
            sums, most = SUM.match(f"{last}"), MOST.match(f"{last}")
            # No turn needs another one but for what it adds up.
            others = [each for each in inner[:-1] if not FREE.match(f"{each}")]
            pragma = found and f"{found[-1]}".startswith("#pragma omp simd")
            if (sums or most) and not others and not pragma:
                kind = "+" if sums else f"{most[2]}_nan" if most else ""
                name = sums[1] if sums else most[1] if most else ""
                found.append(f"#pragma omp simd reduction({kind} : {name})")
        found.append(one)
    return found


def _shown(block: Block, depth: int) -> Iterator[str]:
    """Indented lines; what is loaded is called after where it comes from."""
    called: dict[str, str] = {}
    for one in list(block):
        if isinstance(one, list):
            continue
        if number := NUMBER.fullmatch(one):
            called[number[1]] = number[2] if number[2][0] != "-" else f"({number[2]})"
            block.remove(one)
        elif load := LOAD.match(one):
            name = f"{load[2]}_value"
            again = sum(1 for each in called.values() if each.startswith(name))
            called[load[1]] = f"{name}{again + 1 if again else ''}"
    block = [_renamed(one, called) for one in block]
    indent = "    " * depth
    for place, one in enumerate(block):
        if isinstance(one, str):
            opens = place + 1 < len(block) and isinstance(block[place + 1], list)
            opens = opens and not one.endswith(";") and not one.startswith("#")
            yield f"{indent}{one}{' {' if opens else ''}"
            continue
        before = block[place - 1] if place else ";"
        headed = isinstance(before, str) and not before.endswith(";") and before[:1] != "#"
        yield from () if headed else (f"{indent}{{",)
        yield from _shown(one, depth + 1)
        yield f"{indent}}}{';' if f'{before}'.endswith('[&]') else ''}"


def _renamed(one: str | Block, called: Mapping[str, str]) -> str | Block:
    if isinstance(one, list):
        return [_renamed(each, called) for each in one]
    return WORD.sub(lambda word: called.get(word[0], word[0]), one)
