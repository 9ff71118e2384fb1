"""The file of a kernel with a `run_kernel` that takes the problem's arguments by name."""

from __future__ import annotations

from collections.abc import Sequence

from campaigns.evaluator.builds.python_entry import ENTRY
from campaigns.problems.import_.draft import DraftArg, Role
from campaigns.problems.import_.read_sources import PythonEntry


def wrapped(text: str, entry: PythonEntry, args: Sequence[DraftArg]) -> str:
    """A kernel's file with a `run_kernel` that takes the problem's arguments by name."""
    if entry.name == ENTRY and not entry.returns:
        return text
    outputs = [arg.name for arg in args if arg.role is Role.OUTPUT]
    listed = ", ".join(arg.name for arg in args)
    given = ", ".join(
        f"{arg.name}={arg.name}" for arg in args if not (entry.returns and arg.name in outputs)
    )
    inner = entry.name if entry.name != ENTRY else "_returning"
    lines = [text.rstrip("\n"), "", ""]
    if entry.is_module:
        inner = "_module"
        lines += [f"_module = {entry.name}({entry.made_with})", "", ""]
    if entry.name == ENTRY:
        lines += [f"_returning = {ENTRY}", "", ""]
    lines += [f"def {ENTRY}({listed}):"]
    call = f"{inner}({given})"
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
