"""Writes a draft as the files of a problem folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
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
from campaigns.problems.import_.sizes import WORD

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
WRITTEN = "# What follows was written by kopt from what it read of the kernel."
AS_LIST = "    answers = answers if isinstance(answers, (tuple, list)) else (answers,)"


# Only a module that brings its inputs (`own_inputs.py`) has its weights made into inputs.
BITS = (
    "",
    "",
    "def _bits(one):",
    f"    short = one.dtype in ({', '.join(f'torch.{kind}' for kind in FLOAT8)})",
    "    return one.view(torch.uint8) if short else one",
    "",
)
BOTH = (
    "{0} updates {1} and returns another answer; accepted: {1} updated where it can be seen, as in "
    "{1}.copy_(…), so that both are judged"
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
    # Without words for rows of groups of different sizes: nothing tells of such here.
    op = "_".join(word for word in draft.name.split("_") if word not in GROUPED_WORDS) or "rows"
    lines = [
        "schema = 1",
        f'name = "{draft.name}"',
        f"title = {_text(draft.title)}",
        f'op = "{op}"',
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
    kept = {*draft.kept}
    if "triton" not in draft.kernels:
        # What a kernel in C++ or CUDA is not told, it has built in.
        numbers = [str(arg.value) for arg in draft.args if arg.role is Role.NUMBER]
        kept |= {*draft.sizes} - {*re.findall(r"\w+", " ".join(numbers))}
    if kept:
        # Hidden cases change the same sizes as without `kept`, but for these.
        cases = draft.cases.values()
        free = [n for n in draft.sizes if n not in kept and all(_is_large(c[n]) for c in cases)]
        lines += ["", "[check]", f"free = [{', '.join(map(_text, free))}]"]
    for name, sizes in draft.cases.items():
        lines += _case(name, sizes, ("cpu", "gpu"))
    if "triton" in draft.kernels:
        small = [_smaller(draft, sizes) for sizes in draft.cases.values()]
        for name, sizes in {case_name(sizes.values()): sizes for sizes in small}.items():
            if name not in draft.cases:
                lines += _case(name, sizes, ("interpreter",))
    return "\n".join([*lines, ""])


def _own_tolerances(draft: ProblemDraft) -> Iterator[str]:
    """Tolerances of large outputs, of those in other floats than the problem's, and of 8 bits."""
    for arg in draft.args:
        table = f"[tolerance.outputs.{arg.name}]"
        is_own = arg.dtype != draft.dtype or bool(arg.typical)
        if arg.is_written and is_own and arg.dtype in TOLERANCE:
            atol, rtol = TOLERANCE[arg.dtype]
            atol = float(f"{atol * max(1.0, arg.typical):.2g}")
            yield from ("", table, f"atol = {atol!r}", f"rtol = {rtol!r}")
        if arg.steps:
            yield from ("", table, f"steps = {arg.steps}")
            yield from [f'bits = "{arg.bits}"'] if arg.bits else []


def _is_large(size: Number) -> bool:
    return type(size) is int and size >= LEAST_SIZE


def _case(name: str, sizes: Mapping[str, Number], on: tuple[str, ...]) -> list[str]:
    listed = ", ".join(f"{key} = {json.dumps(value)}" for key, value in sizes.items())
    kinds = ", ".join(f'"{kind}"' for kind in on)
    return ["", "[[case]]", f'name = "{name}"', f"on = [{kinds}]", f"params = {{ {listed} }}"]


def _smaller(draft: ProblemDraft, given: Mapping[str, Number]) -> dict[str, Number]:
    """Sizes that an interpreter can do with: the largest halved until it can."""
    if draft.own_ref and draft.reference.is_module:
        # The first is the batch of a module.
        first, value = next(iter(given.items()))
        return {**given, first: min(value, LEAST_SIZE) if type(value) is int else value}
    whole = {name: value for name, value in given.items() if type(value) is int}
    sizes = {name: value for name, value in whole.items() if name not in draft.kept}
    while sizes and _largest(draft, whole | sizes) > INTERPRETED:
        largest = max(sizes, key=lambda name: sizes[name])
        if sizes[largest] <= LEAST_SIZE:
            break
        sizes[largest] = max(LEAST_SIZE, sizes[largest] // 2)
    return {**given, **sizes}


def _largest(draft: ProblemDraft, sizes: Mapping[str, int]) -> int:
    """Elements of the largest tensor, about; without a shape, the product of the sizes."""
    named = [WORD.findall(f"{arg.shape}") for arg in draft.args if arg.shape]
    counts = [prod(sizes.get(name, 1) for name in names) for names in named]
    return max(counts, default=prod(sizes.values()))


def _text(words: str) -> str:
    plain = words.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c for c in plain if c.isprintable()) + '"'


def _ref(draft: ProblemDraft) -> str:
    """ref.py: the reference as it was given, and behind it inputs, `setup` and `reference`."""
    code, listed = draft.reference, ", ".join(draft.sizes)
    seen = bool(_become(draft)) or any(arg.is_returned for arg in draft.args)
    named = (code.text, *(source for _, source in draft.fixed))
    has_bits = code.returns and any("float8" in one for one in named)
    # Answers as they are compared: those in a float8 by their bits.
    compared = "map(_bits, answers)" if has_bits else "answers"
    lines = [code.text.rstrip("\n"), "", "", WRITTEN, "import torch"]
    lines += ["from functools import cache as _cache"] if seen else []
    lines += BITS if has_bits else []
    # The reference's own name may be one of ours.
    lines += ["", f"_right = {code.name}" + (f"({code.made_with})" if code.is_module else "")]
    lines += OWN_STATE if code.is_module else []
    lines += ["", "", f"def _inputs(*, {listed}, seed, device):", *_input_lines(draft)]
    given = ", ".join(f"{name}={name}" for name in draft.sizes)
    call = _call(draft, "{}")
    if seen:
        lines += _seen_once(draft, compared)
    lines += ["", "", f"def setup(*, {listed}, seed, device):"]
    lines += [f"    inputs = _inputs({given}, seed=seed, device=device)"]
    lines += [f"    shapes = _answer_shapes({listed})"] if seen else []
    lines += [*_place_lines(draft), "", ""]
    lines += [f"def reference(*, {', '.join(arg.name for arg in draft.args)}):"]
    lines += _sizes_told(draft)
    lines += _answer_lines(draft, call, compared) if code.returns else [f"    {call}"]
    return "\n".join([*lines, ""])


def _sizes_told(draft: ProblemDraft) -> Iterator[str]:
    """Sizes that the reference alone is given, off the arguments that have them."""
    sources = " ".join(source for _, source in draft.fixed)
    for name in {*re.findall(r"\w+", sources)} & {*draft.sizes}:
        for arg in draft.args:
            if name in (arg.shape or ()):
                yield f"    {name} = {arg.name}.shape[{(arg.shape or ()).index(name)}]"
                break


def _answer_lines(draft: ProblemDraft, call: str, compared: str) -> Iterator[str]:
    """The reference's answers in their places."""
    places = draft.reference.places or [arg.name for arg in draft.args if arg.is_written]
    listed = ", ".join(name or "None" for name in places)
    yield f"    answers = {call}"
    yield AS_LIST
    yield f"    for place, answer in zip(({listed},), {compared}, strict=True):"
    yield from ["        if place is not None:"] if "" in places else []
    yield f"        {'    ' if '' in places else ''}place.copy_(answer)"


def _become(draft: ProblemDraft) -> dict[str, int]:
    """Arguments that become what the reference returns, and the number of that answer."""
    code = draft.reference
    held = {arg.name for arg in draft.args if arg.role is Role.IN_PLACE}
    return {name: n for n, name in enumerate(code.places) if code.returns and name in held}


def _seen_once(draft: ProblemDraft, compared: str) -> Iterator[str]:
    """What is looked at once for each size: the answers' shapes, and that each has one place.

    Where a reference updates an argument and returns another answer, both would have to be judged.
    """
    listed, become = ", ".join(draft.sizes), _become(draft)
    given = ", ".join(f"{name}={name}" for name in draft.sizes)
    yield from ("", "", "@_cache", f"def _answer_shapes({listed}):")
    call = _call(draft, 'inputs["{}"]')
    if become:
        yield f'    inputs = _inputs({given}, seed=0, device="cpu")'
        yield f"    before = {{n: inputs[n].clone() for n in ({_quoted(become)})}}"
        yield f"    answers = {call}"
    else:
        # Shapes can mostly be worked out without values.
        yield "    try:"
        yield f'        inputs = _inputs({given}, seed=0, device="meta")'
        yield f"        answers = {call}"
        yield "    except Exception:"
        yield f'        inputs = _inputs({given}, seed=0, device="cpu")'
        yield f"        answers = {call}"
    yield AS_LIST
    for name, number in become.items():
        yield f'    old, new, answer = before["{name}"], inputs["{name}"], answers[{number}]'
        yield "    is_changed = bool(((old != new) & (old == old)).any())"
        yield "    if is_changed and answer.data_ptr() != new.data_ptr():"
        yield f"        raise ValueError({_text(BOTH.format(draft.reference.name, name))})"
    yield f"    return [(one.shape, one.dtype) for one in {compared}]"


def _quoted(names: Iterable[str]) -> str:
    return "".join(f'"{name}", ' for name in names).rstrip()


def _input_lines(draft: ProblemDraft) -> Iterator[str]:
    """Inputs that are drawn, or that the reference makes itself with what the seed gives."""
    if draft.made_by:
        yield '    with torch.random.fork_rng([device] if device.startswith("cuda") else []):'
        yield "        torch.manual_seed(seed)"
        yield f"        _given = {draft.made_by}"
    else:
        yield "    has_own = torch.device(device).type not in ('cpu', 'meta')"
        yield "    random = torch.Generator(device if has_own else 'cpu').manual_seed(seed)"
    yield "    return {"
    for arg in draft.args:
        value = arg.value if arg.role is Role.NUMBER else "" if draft.made_by else _drawn(arg)
        if draft.made_by:
            is_number = arg.role is Role.NUMBER
            value = f'_given.get("{arg.name}", {value})' if is_number else f'_given["{arg.name}"]'
        if arg.role is Role.OUTPUT:
            kind = "uint8" if arg.dtype in FLOAT8 else arg.dtype
            value = f"torch.empty({_shape(arg)}, dtype=torch.{kind}, device=device)"
        if not arg.is_returned:
            yield f'        "{arg.name}": {value},'
    yield "    }"


def _drawn(arg: DraftArg) -> str:
    if arg.source:
        return f"({on_any_device(arg.source, 'device')}).to(device)"
    size, place = _shape(arg), "generator=random, device=device"
    if arg.draw is Distribution.INTEGERS:
        made = f"torch.randint({arg.low}, {arg.high}, {size}, {place})"
    elif arg.draw is Distribution.PERMUTATION:
        made = f"torch.randperm({(arg.shape or [1])[0]}, {place})"
    else:
        made = f"torch.{'rand' if arg.draw is Distribution.UNIFORM else 'randn'}({size}, {place})"
    is_whole = arg.draw in (Distribution.INTEGERS, Distribution.PERMUTATION)
    made = arg.after.replace("{}", made) or made
    if arg.dtype in FLOAT8:
        return f"{made}.to(torch.{arg.dtype}).view(torch.uint8)"
    plain = arg.dtype == "float32" and (arg.after or not is_whole)
    return made if plain else f"{made}.to(torch.{arg.dtype})"


def _shape(arg: DraftArg) -> str:
    return f"({', '.join(map(str, arg.shape))},)" if arg.shape else "()"


def _place_lines(draft: ProblemDraft) -> Iterator[str]:
    """Places for outputs whose shapes the reference tells, and what `setup` gives."""
    returned = [arg.name for arg in draft.args if arg.is_returned]
    places = draft.reference.places or returned
    for arg in (arg for arg in draft.args if arg.is_returned):
        yield f"    shape, dtype = shapes[{places.index(arg.name)}]"
        yield f'    inputs["{arg.name}"] = torch.empty(shape, dtype=dtype, device=device)'
    outputs = ", ".join(f'"{arg.name}"' for arg in draft.args if arg.is_written)
    order = _quoted(arg.name for arg in draft.args)
    yield f"    inputs = {{name: inputs[name] for name in ({order})}}"
    yield f'    return {{"inputs": inputs, "outputs": [{outputs}]}}'


def _call(draft: ProblemDraft, source: str) -> str:
    """A call of the reference with arguments that `source` gives by name."""
    code = draft.reference
    own = [arg for arg in draft.args if not arg.is_returned]
    values = {
        arg.name: source.format(arg.name)
        + (f".view(torch.{arg.dtype})" if arg.dtype in FLOAT8 else "")
        for arg in own
    }
    values |= dict(draft.fixed)
    if not code.by_name:
        names = dict(zip(code.takes, code.own or code.takes, strict=True))
        given = [name for name in code.takes if name in values]
        # By their own names behind one that is left out.
        plain = sum(a == b for a, b in zip(given, code.takes, strict=False))
        listed = [values[name] for name in given[:plain]]
        listed += [f"{names[name]}={values[name]}" for name in given[plain:]]
    elif {*code.needed} <= set(values):
        listed = [f"{name}={values[name]}" for name in code.takes if name in values]
    else:
        listed = [values[arg.name] for arg in own[: len(code.needed)]]
    return f"_right({', '.join(listed)})"
