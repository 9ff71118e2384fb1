"""The file of a kernel with a `run_kernel` that takes the problem's arguments by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from campaigns.evaluator.builds.python_entry import ENTRY
from campaigns.problems.import_.draft import DTYPES, DraftArg, DraftError, Role
from campaigns.problems.import_.read_sources import PythonEntry
from campaigns.problems.import_.sizes import Example


def fixed_arguments(takes: Sequence[str], examples: Sequence[Example]) -> Iterator[tuple[str, str]]:
    """Arguments that are texts, tuples or dtypes, and their source. Raises DraftError."""
    for name in takes:
        values = [example[name] for example in examples if name in example]
        if values and isinstance(values[0], str | tuple):
            if any(value != values[0] for value in values):
                raise DraftError("call", f"{name}: differs between calls; accepted: one value")
            yield name, f"torch.{values[0]}" if values[0] in DTYPES else repr(values[0])


def wrapped(text: str, entry: PythonEntry, args: Sequence[DraftArg]) -> str:
    """A kernel's file with a `run_kernel` that takes the problem's arguments by name."""
    if entry.name == ENTRY and not entry.returns:
        return text
    outputs = [arg.name for arg in args if arg.role is Role.OUTPUT]
    listed = ", ".join(arg.name for arg in args)
    own = [arg.name for arg in args if not (entry.returns and arg.name in outputs)]
    inner = entry.name if entry.name != ENTRY else "_returning"
    lines = [text.rstrip("\n"), "", ""]
    if entry.is_module:
        inner = "_module"
        lines += [f"_module = {entry.name}({entry.made_with})", "", ""]
    if entry.name == ENTRY:
        lines += [f"_returning = {ENTRY}", "", ""]
    lines += [f"def {ENTRY}({listed}):"]
    call = _applied(entry, own) if entry.applied else f"{inner}({_by_name(entry, own)})"
    if not entry.returns:
        lines += [f"    {call}", ""]
    elif len(outputs) == 1:
        lines += [f"    {outputs[0]}.copy_({call})", ""]
    else:
        lines += [
            f"    for place, answer in zip(({', '.join(outputs)}), {call}, strict=True):",
            "        place.copy_(answer)",
            "",
        ]
    return "\n".join(lines)


def _by_name(entry: PythonEntry, own: Sequence[str]) -> str:
    same = [f"{name}={name}" for name in own]
    return ", ".join([*same, *(f"{name}={source}" for name, source in entry.fixed)])


def _applied(entry: PythonEntry, own: Sequence[str]) -> str:
    """A call of an autograd.Function, which takes no arguments by name. Raises DraftError."""
    fixed = dict(entry.fixed)
    defaults = {name: repr(value) for name, value in entry.defaults}
    last = max((entry.takes.index(name) for name in (*own, *fixed)), default=-1)
    given = []
    for name in entry.takes[: last + 1]:
        source = name if name in own else fixed.get(name, defaults.get(name))
        if source is None:
            raise DraftError("call", f"{name}: is needed: {entry.name}.apply takes it by position")
        given.append(source)
    return f"{entry.name}.apply({', '.join(given)})"
