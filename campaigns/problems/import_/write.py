"""Writes a draft as the files of a problem folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod

from campaigns.evaluator.contract.problem_words import GROUPED_WORDS
from campaigns.problems.import_.draft import (
    FLOAT8,
    Distribution,
    DraftArg,
    Number,
    ProblemDraft,
    Role,
    case_name,
)
from campaigns.problems.import_.read_sources import on_any_device

# By dtype of the answer: what rounding once and summing in another order may come to.
TOLERANCE = {
    "float64": (1e-12, 1e-9),
    "float32": (1e-5, 1e-4),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
}
EXACT = (0.0, 0.0)
# A program takes some tenth of a millisecond in Triton's interpreter.
INTERPRETED = 1 << 14
LEAST_SIZE = 16


# Only a module that brings its inputs (`kernel_bench.py`) has its weights made into inputs.
BITS = (
    "",
    "",
    "def _bits(one):",
    f"    short = one.dtype in ({', '.join(f'torch.{kind}' for kind in FLOAT8)})",
    "    return one.view(torch.uint8) if short else one",
    "",
)
OWN_STATE = (
    "if next(_right.parameters(), None) is not None:",
    '    raise ValueError("the module has weights; needed: get_inputs() beside it")',
)


def written(draft: ProblemDraft) -> dict[str, str]:
    """File name → text: problem.toml, ref.py and the kernels."""
    files = {"problem.toml": _toml(draft), "ref.py": draft.own_ref or _ref(draft)}
    return files | dict(draft.kernels.values())


def _toml(draft: ProblemDraft) -> str:
    atol, rtol = TOLERANCE.get(draft.dtype, EXACT)
    lines = [
        "schema = 1",
        f'name = "{draft.name}"',
        f"title = {_text(draft.title)}",
        f'op = "{_op(draft.name)}"',
        f'dtype = "{draft.dtype}"',
        f"summary = {_text(draft.summary)}",
        "",
        "[files]",
        *(f'{backend} = "{name}"' for backend, (name, _) in sorted(draft.kernels.items())),
        "",
        "[tolerance]",
        f"atol = {atol!r}",
        f"rtol = {rtol!r}",
        *_own_tolerances(draft),
    ]
    if not {"triton"} & {*draft.kernels} and not _takes_sizes(draft):
        lines += ["", "[check]", "free = []"]
    elif draft.kept:
        free = ", ".join(f'"{name}"' for name in _free(draft))
        lines += ["", "[check]", f"free = [{free}]"]
    for name, sizes in draft.cases.items():
        lines += _case(name, sizes, ("cpu", "gpu"))
    if "triton" in draft.kernels:
        small = {name: _smaller(draft, sizes) for name, sizes in draft.cases.items()}
        kept = {case_name(sizes.values()): sizes for sizes in small.values()}
        for name, sizes in kept.items():
            if name not in draft.cases:
                lines += _case(name, sizes, ("interpreter",))
    return "\n".join([*lines, ""])


def _takes_sizes(draft: ProblemDraft) -> bool:
    """Whether a kernel in C++ or CUDA is told any size; else all are built into it."""
    return any(arg.role is Role.NUMBER and isinstance(arg.value, str) for arg in draft.args)


def _op(name: str) -> str:
    """The name without words for rows of groups of different sizes: nothing tells of such here."""
    return "_".join(word for word in name.split("_") if word not in GROUPED_WORDS) or "rows"


def _own_tolerances(draft: ProblemDraft) -> Iterator[str]:
    """Of outputs in other floats than the problem's, and of those rounded to 8 bits."""
    for arg in draft.args:
        written = arg.role in (Role.OUTPUT, Role.IN_PLACE) and arg.dtype != draft.dtype
        if written and arg.dtype in TOLERANCE:
            atol, rtol = TOLERANCE[arg.dtype]
            table = f"[tolerance.outputs.{arg.name}]"
            yield from ("", table, f"atol = {atol!r}", f"rtol = {rtol!r}")
        if arg.steps:
            yield from ("", f"[tolerance.outputs.{arg.name}]", f"steps = {arg.steps}")
            yield from [f'bits = "{arg.bits}"'] if arg.bits else []


def _case(name: str, sizes: Mapping[str, Number], on: tuple[str, ...]) -> list[str]:
    listed = ", ".join(f"{key} = {json.dumps(value)}" for key, value in sizes.items())
    kinds = ", ".join(f'"{kind}"' for kind in on)
    return ["", "[[case]]", f'name = "{name}"', f"on = [{kinds}]", f"params = {{ {listed} }}"]


def _free(draft: ProblemDraft) -> Iterator[str]:
    """The sizes that hidden cases change: as without `kept`, but for these."""
    for name in draft.sizes:
        values = [case[name] for case in draft.cases.values()]
        large = all(type(one) is int and one >= LEAST_SIZE for one in values)
        if large and name not in draft.kept:
            yield name


def _smaller(draft: ProblemDraft, given: Mapping[str, Number]) -> dict[str, Number]:
    """Sizes that an interpreter can do with."""
    if draft.own_ref and draft.reference.is_module:
        return _fewer(given)
    kept = {name: given[name] for name in draft.kept}
    small = _small({k: v for k, v in given.items() if k not in kept}, kept)
    return {name: {**small, **kept}[name] for name in given}


def _small(given: Mapping[str, Number], beside: Mapping[str, Number]) -> dict[str, Number]:
    """The same sizes halved, the largest first, until an interpreter can do with them.

    beside: other sizes, which stay.
    """
    sizes = {name: value for name, value in given.items() if type(value) is int}
    most = INTERPRETED // prod(one for one in beside.values() if type(one) is int)
    while sizes and prod(sizes.values()) > most and max(sizes.values()) > LEAST_SIZE:
        largest = max(sizes, key=lambda name: sizes[name])
        sizes[largest] = max(LEAST_SIZE, sizes[largest] // 2)
    return {**given, **sizes}


def _fewer(given: Mapping[str, Number]) -> dict[str, Number]:
    """The same sizes but for a small first one, which is the batch of a module."""
    first, value = next(iter(given.items()))
    return {**given, first: min(value, LEAST_SIZE) if type(value) is int else value}


def _text(words: str) -> str:
    plain = words.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c for c in plain if c.isprintable()) + '"'


def _ref(draft: ProblemDraft) -> str:
    returned = [arg for arg in draft.args if arg.role is Role.OUTPUT and arg.shape is None]
    parts = [draft.reference.text.rstrip("\n"), "", "", *_given(draft)]
    parts += _inputs(draft)
    if returned:
        parts += _outputs(draft)
    parts += _setup(draft, returned)
    parts += _reference(draft, returned)
    return "\n".join([*parts, ""])


def _given(draft: ProblemDraft) -> list[str]:
    """What the reference is called from here on: its own name may be one of ours."""
    lines = ["# What follows was written by kopt from what it read of the kernel.", "import torch"]
    if any(arg.role is Role.OUTPUT and arg.shape is None for arg in draft.args):
        lines += ["from functools import cache as _cache"]
    if _has_bits(draft):
        lines += BITS
    made = f"{draft.reference.name}({draft.reference.made_with})"
    if draft.reference.is_module:
        return [*lines, "", f"_right = {made}", *OWN_STATE, "", ""]
    return [*lines, "", f"_right = {draft.reference.name}", "", ""]


def _sizes(draft: ProblemDraft) -> str:
    return ", ".join(draft.sizes)


def _inputs(draft: ProblemDraft) -> list[str]:
    if draft.made_by:
        return _made(draft)
    lines = [
        f"def _inputs(*, {_sizes(draft)}, seed, device):",
        "    random = torch.Generator(device=device).manual_seed(seed)",
        "    return {",
    ]
    for arg in draft.args:
        if arg.role is Role.NUMBER:
            lines.append(f'        "{arg.name}": {arg.value},')
        elif arg.role is not Role.OUTPUT:
            lines.append(f'        "{arg.name}": {_drawn(arg)},')
    return [*lines, "    }", "", ""]


def _made(draft: ProblemDraft) -> list[str]:
    """Inputs that the reference makes itself, with random numbers that the seed gives."""
    lines = [
        f"def _inputs(*, {_sizes(draft)}, seed, device):",
        '    with torch.random.fork_rng([device] if device.startswith("cuda") else []):',
        "        torch.manual_seed(seed)",
        f"        _given = {draft.made_by}",
        "    return {",
    ]
    for arg in draft.args:
        if arg.role is Role.NUMBER:
            lines.append(f'        "{arg.name}": _given.get("{arg.name}", {arg.value}),')
        elif arg.role is not Role.OUTPUT:
            lines.append(f'        "{arg.name}": _given["{arg.name}"],')
    return [*lines, "    }", "", ""]


def _shape(arg: DraftArg) -> str:
    return f"({', '.join(map(str, arg.shape))},)" if arg.shape else "()"


def _drawn(arg: DraftArg) -> str:
    if arg.source:
        return f"({on_any_device(arg.source, 'device')}).to(device)"
    shape = _shape(arg)
    where = "generator=random, device=device"
    if arg.draw is Distribution.INTEGERS:
        kind = "bool" if arg.dtype == "bool" else arg.dtype
        return f"torch.randint({arg.low}, {arg.high}, {shape}, {where}).to(torch.{kind})"
    made = f"torch.{'rand' if arg.draw is Distribution.UNIFORM else 'randn'}({shape}, {where})"
    if arg.scale != 1.0:
        made += f" * {arg.scale!r}"
    if arg.shift:
        made += f" + {arg.shift!r}"
    plain = made if arg.scale == 1.0 and not arg.shift else f"({made})"
    if arg.dtype in FLOAT8:
        return f"{plain}.to(torch.{arg.dtype}).view(torch.uint8)"
    return plain if arg.dtype == "float32" else f"{plain}.to(torch.{arg.dtype})"


def _call(draft: ProblemDraft, source: str) -> str:
    """A call of the reference with arguments that `source` gives by name."""
    names = [arg.name for arg in draft.args if not _is_returned(arg)]
    code = draft.reference
    short = {arg.name: f".view(torch.{arg.dtype})" for arg in draft.args if arg.dtype in FLOAT8}
    values = {name: source.format(name) + short.get(name, "") for name in names}
    values |= dict(draft.fixed)
    needed = [name for name in code.takes if name not in code.optional]
    if not code.by_name:
        listed = [values[name] for name in code.takes if name in values]
    elif set(needed) <= set(values):
        listed = [f"{name}={values[name]}" for name in code.takes if name in values]
    else:
        listed = [values[name] for name in names[: len(needed)]]
    return f"_right({', '.join(listed)})"


def _compared(draft: ProblemDraft, answers: str) -> str:
    """Answers as they are compared: those in a float8 by their bits."""
    return f"map(_bits, {answers})" if _has_bits(draft) else answers


def _has_bits(draft: ProblemDraft) -> bool:
    named = (draft.reference.text, *(source for _, source in draft.fixed))
    return draft.reference.returns and any("float8" in one for one in named)


def _is_returned(arg: DraftArg) -> bool:
    return arg.role is Role.OUTPUT and arg.shape is None


def _outputs(draft: ProblemDraft) -> list[str]:
    given = ", ".join(f"{name}={name}" for name in draft.sizes)
    call = _call(draft, 'inputs["{}"]')
    return [
        "@_cache",
        f"def _answer_shapes({_sizes(draft)}):",
        f'    inputs = _inputs({given}, seed=0, device="cpu")',
        f"    answers = {call}",
        "    answers = answers if isinstance(answers, (tuple, list)) else (answers,)",
        f"    return [(one.shape, one.dtype) for one in {_compared(draft, 'answers')}]",
        "",
        "",
    ]


def _setup(draft: ProblemDraft, returned: list[DraftArg]) -> list[str]:
    given = ", ".join(f"{name}={name}" for name in draft.sizes)
    lines = [
        f"def setup(*, {_sizes(draft)}, seed, device):",
        f"    inputs = _inputs({given}, seed=seed, device=device)",
    ]
    if returned:
        lines.append(f"    shapes = _answer_shapes({_sizes(draft)})")
    for number, arg in enumerate(returned):
        lines += [
            f"    shape, dtype = shapes[{number}]",
            f'    inputs["{arg.name}"] = torch.empty(shape, dtype=dtype, device=device)',
        ]
    for arg in draft.args:
        if arg.role is Role.OUTPUT and arg.shape is not None:
            kind = "uint8" if arg.dtype in FLOAT8 else arg.dtype
            made = f"torch.empty({_shape(arg)}, dtype=torch.{kind}, device=device)"
            lines.append(f'    inputs["{arg.name}"] = {made}')
    order = ", ".join(f'"{arg.name}"' for arg in draft.args)
    outputs = ", ".join(
        f'"{arg.name}"' for arg in draft.args if arg.role in (Role.OUTPUT, Role.IN_PLACE)
    )
    lines += [
        f"    inputs = {{name: inputs[name] for name in ({order},)}}",
        f'    return {{"inputs": inputs, "outputs": [{outputs}]}}',
        "",
        "",
    ]
    return lines


def _reference(draft: ProblemDraft, returned: list[DraftArg]) -> list[str]:
    listed = ", ".join(arg.name for arg in draft.args)
    lines = [f"def reference(*, {listed}):", *_answers(draft, returned)]
    return lines


def _answers(draft: ProblemDraft, returned: list[DraftArg]) -> Iterator[str]:
    call = _call(draft, "{}")
    outputs = [arg.name for arg in draft.args if arg.role in (Role.OUTPUT, Role.IN_PLACE)]
    if not draft.reference.returns:
        yield f"    {call}"
        return
    yield f"    answers = {call}"
    yield "    answers = answers if isinstance(answers, (tuple, list)) else (answers,)"
    compared = _compared(draft, "answers")
    yield f"    for place, answer in zip(({', '.join(outputs)},), {compared}, strict=True):"
    yield "        place.copy_(answer)"
