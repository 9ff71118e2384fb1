"""Proposes a problem for a kernel: from its signature, a reference and example calls.

Nothing that was given is run here. What could not be read is assumed, and said.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from campaigns.evaluator.builds.python_entry import ENTRY
from campaigns.problems.import_.autograd import launching_entry
from campaigns.problems.import_.c_entry import with_solve
from campaigns.problems.import_.draft import (
    FLOATS,
    MOST_CASES,
    NO_KERNEL,
    DraftArg,
    DraftError,
    Draw,
    ProblemDraft,
    ReferenceCode,
    Role,
    slug_of,
)
from campaigns.problems.import_.entries import fixed_arguments, wrapped
from campaigns.problems.import_.example_calls import (
    TensorValue,
    Value,
    called_name,
    find_calls,
    read_call,
    returned_values,
)
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.kernel_bench import is_pair, with_inputs_of_its_own
from campaigns.problems.import_.own_setup import own_setup, with_own_setup
from campaigns.problems.import_.read_sources import (
    OUTPUT_NAMES,
    PointerArg,
    PythonEntry,
    parsed,
    reference_code,
    solve_parameters,
)
from campaigns.problems.import_.same_package import importable
from campaigns.problems.import_.sizes import Example, Sizes

T = TypeVar("T")
BACKENDS = {".py": "triton", ".cu": "cuda", ".cpp": "cpp", ".cc": "cpp"}


def propose(given: Given) -> ProblemDraft:
    """Without a kernel v0 is the reference in torch. Raises DraftError: what is missing."""
    if not given.kernel.strip():
        return _eager(given)
    suffix = "." + given.file_name.rsplit(".", 1)[-1] if "." in given.file_name else ""
    backend = BACKENDS.get(suffix)
    if backend is None:
        raise DraftError(
            "kernel", f"{given.file_name!r}; accepted: a name in {', '.join(BACKENDS)}"
        )
    if suffix == ".py" and (function := own_setup(given.kernel, given.file_name)):
        named = {"name": _name(given), "title": _title(given)}
        kernel, sizes = (given.file_name, given.kernel), [c for c in given.calls if "(" not in c]
        return with_own_setup(named, function, kernel, given.reference or given.kernel, sizes)
    entry = _entry(given) if suffix == ".py" else None
    reference = _reference(given, entry)
    if (pair := _pair(given, backend, entry, reference)) is not None:
        return pair
    reference, entry = _made_with(given, reference, entry)
    examples = _examples(given, entry, reference)
    assumed: list[str] = []
    if entry is not None:
        entry = replace(entry, fixed=tuple(fixed_arguments(entry.takes, examples)))
        assumed += [f"{name} is always {source}." for name, source in entry.fixed]
        args, cases = _python_args(given, entry, reference, examples, assumed)
    else:
        whole, called = with_solve(given.whole or given.kernel, given.file_name, given.entry)
        listed = solve_parameters(whole, given.file_name)
        args, cases, reference = _c_args(given, listed, reference, examples, assumed)
    file_name = f"v0{'.cpp' if backend == 'cpp' else suffix}"
    if entry is None:
        text = whole
        assumed += [f"{called} is called by a solve that is added at the end."] if called else []
    if entry is not None:
        text, left_out = importable(given.whole or given.kernel, given.file_name, entry.name)
        text = wrapped(text, entry, args)
        assumed += left_out
    if entry is not None and entry.name != ENTRY:
        assumed.append(
            f"{entry.name} is called by a {ENTRY} that is added at the end of the file"
            + ("; what it returns is copied, and the copy is timed." if entry.returns else ".")
        )
    return ProblemDraft(
        name=_name(given),
        title=_title(given),
        args=tuple(args),
        reference=reference,
        cases=cases,
        kernels={backend: (file_name, text)},
        fixed=entry.fixed if entry else (),
        assumed=tuple(assumed),
    )


def _pair(
    given: Given, backend: str, entry: PythonEntry | None, reference: ReferenceCode
) -> ProblemDraft | None:
    """A problem whose module brings its inputs, if the reference is one and no call is given."""
    if given.calls or not is_pair(reference, reference.text):
        return None
    kernel = (backend, given.file_name, given.kernel)
    named = {"name": _name(given), "title": _title(given)}
    takes = entry or tuple(solve_parameters(given.kernel, given.file_name))
    return with_inputs_of_its_own(named, kernel, takes, reference)


def _entry(given: Given) -> PythonEntry:
    """The function that is named, or the only one; of several the one that an example calls."""

    def read(name: str) -> PythonEntry:
        return launching_entry(given.kernel, given.file_name, name)

    return _named_by_calls(given.entry, given.calls, read)


def _named_by_calls(name: str, calls: Sequence[str], read: Callable[[str], T]) -> T:
    """What `read` gives for a name; where it needs one, for a name that an example calls."""
    try:
        return read(name)
    except DraftError:
        for called in () if name else map(called_name, calls):
            with contextlib.suppress(DraftError):
                return read(called)
        raise


def _name(given: Given) -> str:
    return slug_of(given.name or given.file_name.rsplit(".", 1)[0]) or "kernel"


def _title(given: Given) -> str:
    return given.title or _name(given).replace("_", " ").capitalize()


def _eager(given: Given) -> ProblemDraft:
    """A problem that has no kernel yet: its reference, run by torch eagerly, is what to beat."""
    file = given.reference_file or "reference.py"
    code = reference_code(given.reference, file, given.function)
    draft = propose(
        replace(given, file_name=file, kernel=given.reference, entry=code.name, function=code.name)
    )
    return replace(draft, assumed=(NO_KERNEL, *draft.assumed))


def _reference(given: Given, entry: PythonEntry | None) -> ReferenceCode:
    if given.reference.strip():
        file = given.reference_file or "reference"
        read = partial(reference_code, given.reference, file)
        return _named_by_calls(given.function, given.calls, read)
    if not given.file_name.endswith(".py"):
        raise DraftError("reference", "a function or an nn.Module in Python is needed")
    found = reference_code(given.kernel, given.file_name, given.function)
    if entry is not None and found.name == entry.name:
        raise DraftError(
            "reference",
            f"{given.file_name} defines no function beside {entry.name}; needed: one that gives "
            "the right answer, in this file or another",
        )
    return found


def _made_with(
    given: Given, reference: ReferenceCode, entry: PythonEntry | None
) -> tuple[ReferenceCode, PythonEntry | None]:
    """Both with what `get_init_inputs` says that modules are made with (KernelBench)."""
    for file, text in _python_files(given):
        values = returned_values(parsed(text, file), "get_init_inputs")
        if values and all(isinstance(value, int | float | bool | str) for value in values):
            made_with = ", ".join(map(repr, values))
            reference = replace(reference, made_with=made_with)
            entry = replace(entry, made_with=made_with) if entry else None
    return reference, entry


def _python_files(given: Given) -> list[tuple[str, str]]:
    both = ((given.reference_file, given.reference), (given.file_name, given.kernel))
    return [(file, text) for file, text in both if file.endswith(".py") and text.strip()]


def _examples(given: Given, entry: PythonEntry | None, ref: ReferenceCode) -> list[Example]:
    """Arguments by name of each example call, of the kernel or of its reference."""
    takes = {entry.name: entry.takes} if entry else {}
    takes.setdefault(ref.name, ref.takes)
    found: list[Example] = []
    if given.calls:
        for text in given.calls:
            name = called_name(text)
            names = takes.get(name, entry.takes if entry else ref.takes)
            found.append(_named(names, *read_call(text, _scope(given))))
        return found
    for file, text in _python_files(given):
        tree = parsed(text, file)
        if inputs := returned_values(tree, "get_inputs"):
            return [_named(ref.takes, inputs, {})]
        for name, names in takes.items():
            found += [_named(names, *each) for each in find_calls(tree, name)]
    usable = [one for one in found if any(isinstance(v, TensorValue) for v in one.values())]
    if not usable:
        shown = entry.name if entry else ref.name
        raise DraftError(
            "call",
            f"no call of {shown} with tensors is in the file; needed: one such as "
            f"{shown}(torch.randn(4096, 1024, dtype=torch.float16), …)",
        )
    most = max(len(one) for one in usable)
    return [one for one in usable if len(one) == most][:MOST_CASES]


def _scope(given: Given) -> dict[str, Value]:
    """Constants at the top level of the kernel's file, for calls that name them."""
    if not given.file_name.endswith(".py"):
        return {}
    found: dict[str, Value] = {}
    for node in parsed(given.kernel, given.file_name).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, int | float):
                    found[target.id] = node.value.value
    return found


def _named(names: Sequence[str], listed: list[Value], named: Mapping[str, Value]) -> Example:
    if len(listed) > len(names):
        raise DraftError("call", f"{len(listed)} arguments; accepted: {', '.join(names)}")
    return {**dict(zip(names, listed, strict=False)), **named}


def _python_args(
    given: Given,
    entry: PythonEntry,
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], dict[str, dict[str, int]]]:
    names = Sizes(examples)
    defaults = dict(entry.defaults)
    args: list[DraftArg] = []
    fixed = dict(entry.fixed)
    for name in (one for one in entry.takes if one not in fixed):
        values = [example[name] for example in examples if name in example]
        if not values and name in defaults and name in reference.takes:
            values = [_default(defaults[name])]
        if not values and name in entry.optional:
            continue
        if not values:
            raise DraftError("call", f"{name}: no example call gives it")
        if values[0] is None:
            continue
        args.append(_arg(given, name, values, names, assumed))
    if entry.returns:
        numbers = range(1, entry.answers + 1) if entry.answers > 1 else [""]
        for number in numbers:
            args.append(DraftArg(_free(f"out{number}", args), Role.OUTPUT, "", None))
        assumed.append("What the reference returns is the output, in its shape and dtype.")
    elif not any(arg.role in (Role.OUTPUT, Role.IN_PLACE) for arg in args):
        listed = ", ".join(arg.name for arg in args if arg.role is Role.INPUT)
        raise DraftError("outputs", f"which of these does a call write? {listed}")
    _require_taken(reference, args, fixed)
    return args, names.cases


def _default(value: object) -> Value:
    return value if isinstance(value, int | float | bool) else None


def _free(name: str, args: Sequence[DraftArg]) -> str:
    taken = {arg.name for arg in args}
    return name if name not in taken else f"{name}_"


def _require_taken(
    reference: ReferenceCode, args: Sequence[DraftArg], fixed: Mapping[str, str]
) -> None:
    """The reference's arguments are the kernel's, by name or, where they differ, by order."""
    known = [arg.name for arg in args if arg.role is not Role.OUTPUT or arg.shape is not None]
    known += fixed
    needed = [name for name in reference.takes if name not in reference.optional]
    if not set(needed) <= set(known) and len(needed) > len(known):
        raise DraftError(
            "reference",
            f"{reference.name} takes {', '.join(needed)}; the kernel has {', '.join(known)}",
        )


def _c_args(
    given: Given,
    listed: Sequence[PointerArg],
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], dict[str, dict[str, int]], ReferenceCode]:
    """Arguments and cases, and the reference with its arguments by the names of `solve`'s."""
    given_numbers = {name for example in examples for name in example}
    whole = [arg.name for arg in listed if not arg.pointer and arg.dtype.startswith(("int", "ui"))]
    names = Sizes(examples, [name for name in whole if name not in given_numbers])
    inputs = [arg for arg in listed if arg.pointer and not _is_output(given, arg)]
    tensors = [n for n in reference.takes if isinstance(examples[0].get(n), TensorValue)]
    by_pointer = {arg.name: arg.name for arg in inputs if arg.name in tensors}
    rest = [n for n in tensors if n not in by_pointer.values()]
    for arg in inputs:
        if arg.name not in by_pointer and rest:
            by_pointer[arg.name] = rest.pop(0)
            assumed.append(f"{arg.name} is what the reference calls {by_pointer[arg.name]}.")
    args: list[DraftArg] = []
    for arg in listed:
        if not arg.pointer:
            args.append(_c_number(arg, examples, names))
        elif arg.name in by_pointer:
            values = [example[by_pointer[arg.name]] for example in examples]
            made = _arg(given, arg.name, values, names, assumed)
            args.append(replace(made, dtype=arg.dtype, role=Role.INPUT))
        elif _is_output(given, arg):
            args.append(DraftArg(arg.name, Role.OUTPUT, arg.dtype, None))
        else:
            raise DraftError("call", f"{arg.name}: no example call gives it")
    if not any(arg.role is Role.INPUT for arg in args):
        pointers = ", ".join(arg.name for arg in listed if arg.pointer)
        raise DraftError("outputs", f"which of these does a call write? {pointers}")
    if not any(arg.role is Role.OUTPUT for arg in args):
        raise DraftError("outputs", "every pointer of solve is const; which one does it write?")
    takes = tuple(
        next((mine for mine, theirs in by_pointer.items() if theirs == name), name)
        for name in reference.takes
    )
    return args, names.cases, replace(reference, takes=takes, by_name=False)


def _is_output(given: Given, arg: PointerArg) -> bool:
    return arg.name in given.outputs if given.outputs else arg.written


def _c_number(arg: PointerArg, examples: list[Example], names: Sizes) -> DraftArg:
    """A number of `solve`: a size of that name, or what the calls give."""
    values = [example[arg.name] for example in examples if arg.name in example]
    if values:
        return DraftArg(arg.name, Role.NUMBER, arg.dtype, value=names.number(values))
    size = names.called(arg.name)
    if size is None:
        listed = ", ".join(names.known) or "none"
        raise DraftError(
            "call",
            f"{arg.name}: is it a size? Equal ones are taken as one, so name them in the call: "
            f'"{arg.name} = 64; f(torch.randn(32, {arg.name}))"; sizes so far: {listed}',
        )
    return DraftArg(arg.name, Role.NUMBER, arg.dtype, value=size)


def _arg(
    given: Given, name: str, values: list[Value], names: Sizes, assumed: list[str]
) -> DraftArg:
    first = values[0]
    if not isinstance(first, TensorValue):
        kind = "float32" if isinstance(first, float) else "int32"
        return DraftArg(name, Role.NUMBER, kind, value=names.number(values))
    tensors = [value for value in values if isinstance(value, TensorValue)]
    shape = names.shape(tensors)
    named = name in given.outputs if given.outputs else name in OUTPUT_NAMES
    if named:
        return DraftArg(name, Role.OUTPUT, first.dtype, shape)
    draw, shift, scale = first.draw, first.shift, first.scale
    if draw is Draw.NONE and first.dtype in FLOATS:
        draw, scale = Draw.NORMAL, 1.0
        assumed.append(
            f"{name} is drawn around {shift:g}: with one number everywhere a kernel that "
            "ignores it would pass."
        )
    elif draw is Draw.NONE:
        draw = Draw.INTEGERS
    high = names.bound([tensor.high for tensor in tensors])
    return DraftArg(name, Role.INPUT, first.dtype, shape, draw, 0, first.low, high, scale, shift)
