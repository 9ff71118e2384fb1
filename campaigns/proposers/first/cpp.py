"""Inductor's C++ as one plain source file: standard headers, loops and OpenMP pragmas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from campaigns.evaluator.contract import Source
from campaigns.proposers.first.module import (
    WORD,
    NotPrinted,
    kernels_of,
    operators,
    renamed,
    steps_of,
)
from campaigns.proposers.recipes.base import template

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
    r"inductor_cpu_integer_div_error|^int tid = omp_get_thread_num\(\);$|^TORCH_CHECK\(|^$"
)
# One line without the casts and suffixes that change nothing, and with names that people give.
PLAIN = (
    (r"c10::convert<", "static_cast<"),
    (r"at::BFloat16", "bfloat16_t"),
    (r"at::Half", "_Float16"),
    (r"\b(\d+)L\b", r"\1"),
    (r"\[static_cast<int64_t>\(([^][]*)\)\]", r"[\1]"),
    (r"static_cast<int64_t>\(((?!tmp)[-\w*+ ]*)\)", r"\1"),
    (r"static_cast<float>\((-?\d*(?:\.\d*)?(?:e[-+]?\d+)?)\)", r"\1f"),
    (r"\bx(\d+)\b", r"i\1"),
    (r"^for\(int64_t (\w+)=(.*?); \1<(.*); \1\+=1\)$", r"for (int64_t \1 = \2; \1 < \3; ++\1)"),
    # Inductor says so where no turn needs another one.
    (r"^#pragma GCC ivdep$", "#pragma omp simd"),
    (r"^auto (tmp\d+) = float\(([^()]*)\);$", r"const float \1 = \2;"),
    (r"^auto (tmp\d+) = (?!\[&)", r"const auto \1 = "),
    (r" = decltype\((\w+)\)\(-\1\);$", r" = -\1;"),
)
LOAD = re.compile(r"const auto (tmp\d+) = (\w+)\[")
NUMBER = re.compile(r"const auto (tmp\d+) = (-?\d[\d.]*(?:e[+-]?\d+)?f?);")
# Two names of an argument that a kernel reads and writes.
ALIAS = re.compile(r"auto (?!tmp)(\w+) = (\w+);")
# The last line of a turn that adds up, or takes the largest or the smallest.
GATHERS = re.compile(r"(\w+) = (?:\1 (\+) |(max|min)_propagate_nan\(\1, )")
FREE = re.compile(r"const |\w+\[")
# Functions of floats that glibc has for several at once.
LANES = re.compile(r"\bstd::(exp|log|tanh|erf|sin|cos)\(")
# What a source needs by the words in it.
HELPERS = {
    "lanes.cpp": r"\b(exp|log|tanh|erf|sin|cos)f\(",
    "bfloat16_t.cpp": "bfloat16_t",
    "max_propagate_nan.cpp": "max_propagate_nan|max_nan",
    "min_propagate_nan.cpp": "min_propagate_nan|min_nan",
}
HEADERS = "".join(
    f"#include <{name}>\n"
    for name in ("algorithm", "cmath", "cstdint", "cstring", "limits", "memory", "omp.h")
)

# A line, or the lines between two braces.
Block = list["str | Block"]


def cpp_source(text: str, inputs: Sequence[tuple[str, str]], note: str) -> Source:
    """A file with `solve`. inputs: name and kind of its arguments.

    note: one line that says where the kernel comes from. Raises NotPrinted, and what parsing of
    Python raises.
    """
    kernels = kernels_of(text)
    taken = {*WORD.findall(" ".join(kernels.values()))} | {"solve"}
    names = [f"{name}_" if name in taken else name for name, _ in inputs]
    lines, written = list[str](), set[str]()
    for step in steps_of(text, kernels, names, _view):
        if step.what == "library":
            raise NotPrinted(f"it calls a library's {step.name}")
        if step.what == "made":
            count, kind = step.args[0], _element(step.args[3].removeprefix("torch."))
            lines.append(f"std::unique_ptr<{kind}[]> {step.name}_memory(new {kind}[{count}]);")
            lines.append(f"{kind}* {step.name} = {step.name}_memory.get();")
        else:
            found, changed = _kernel(kernels[step.name], step.args)
            written |= changed
            lines += [f"// Fused: {operators(step.name)}", *found]
    body = "\n".join(f"    {line}" for line in lines)
    if "double" not in body:
        body = LANES.sub(r"\1f(", body)
    given = ", ".join(
        f"{_element(kind)} {name}"
        if kind in ("int", "float")
        else f"{'' if name in written else 'const '}{_element(kind)}* {name}"
        for name, (_, kind) in zip(names, inputs, strict=True)
    )
    solve = f'extern "C" void solve({given}) {{\n{body}\n}}\n'
    helpers = (template(name) for name, words in HELPERS.items() if re.search(words, solve))
    return Source("kernel.cpp", "\n".join([f"// {note}\n", HEADERS, *helpers, solve]), FLAGS)


def _view(memory: str, sizes: str, strides: str, offset: str) -> str:
    return memory if offset == "0" else f"({memory} + {offset})"


def _element(kind: str) -> str:
    return ELEMENTS.get(kind, f"{kind}_t")


def _kernel(text: str, args: Sequence[str]) -> tuple[list[str], set[str]]:
    """The lines of one call of a kernel, and what it writes. Raises NotPrinted."""
    found = SIGNATURE.search(text)
    if found is None:
        raise NotPrinted("a kernel has no signature that is known")
    params = [one.split() for one in found[1].split(",")]
    called = {param[-1]: arg for param, arg in zip(params, args, strict=True)}
    written = {called[param[-1]] for param in params if "*" in param[0]}
    lines = [one.strip() for one in found[2].splitlines()]
    if any(len(line) > LONGEST_CODE for line in lines):
        raise NotPrinted(f"a line of a kernel has more than {LONGEST_CODE} characters")
    for alias in filter(None, map(ALIAS.fullmatch, lines)):
        called[alias[1]] = called.get(alias[2], alias[2])
    kept = [one for one in lines if not (DROPPED.search(one) or ALIAS.fullmatch(one))]
    block = _collapsed(_tree([renamed(_plain(one), called) for one in kept]))
    return [*_shown(block, 0)], written


def _plain(line: str) -> str:
    for pattern, made in PLAIN:
        line = re.sub(pattern, made, line)
    return line


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
    for one, inner in pairwise([*block, ""]):
        if f"{one}".startswith("for (") and inner and found[-1:] != ["#pragma omp simd"]:
            *others, last = map(str, inner)
            # No turn needs another one but for what it gathers.
            if (gathers := GATHERS.match(last)) and all(map(FREE.match, others)):
                kind = gathers[2] or f"{gathers[3]}_nan"
                found.append(f"#pragma omp simd reduction({kind} : {gathers[1]})")
        found.append(one)
    return found


def _shown(block: Block, depth: int) -> Iterator[str]:
    """Indented lines: loads are called after where they come from, and numbers are put in."""
    called, kept = dict[str, str](), Block()
    for one in block:
        number = NUMBER.fullmatch(one) if isinstance(one, str) else None
        load = LOAD.match(one) if isinstance(one, str) else None
        if load and f"{load[2]}_value" not in called.values():
            called[load[1]] = f"{load[2]}_value"
        if number:
            called[number[1]] = number[2]
        else:
            kept.append(one)
    for one in kept:
        if isinstance(one, str):
            yield f"{'    ' * depth}{renamed(one, called)}"
        else:
            yield f"{'    ' * depth}{{"
            yield from (renamed(line, called) for line in _shown(one, depth + 1))
            yield f"{'    ' * depth}}}"
