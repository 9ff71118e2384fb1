"""The arguments of a kernel in C++ or CUDA, from its `solve` and the example calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from campaigns.problems.import_.arguments.one_argument import read_argument
from campaigns.problems.import_.calls.example_calls import TensorValue
from campaigns.problems.import_.calls.sizes import Example, Sizes
from campaigns.problems.import_.draft import DraftArg, DraftError, ReferenceCode, Role
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.read_sources import PointerArg


def c_arguments(
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
            made = read_argument(given, arg.name, values, names, assumed)
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


def _is_output(given: Given, arg: PointerArg) -> bool:
    return arg.name in given.outputs if given.outputs else arg.written
