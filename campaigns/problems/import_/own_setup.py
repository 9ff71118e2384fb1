"""Kernels that bring their own `setup`, beside a `reference` that writes in place (kernel-opt)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from campaigns.problems.import_.draft import DraftError, ProblemDraft, ReferenceCode
from campaigns.problems.import_.read_sources import (
    needed_by,
    on_any_device,
    parameters,
    parsed,
)

SETUP, REFERENCE = "setup", "reference"
# What the call of a case gives by itself.
GIVEN = ("seed", "device")
SIZE = re.compile(r"([A-Za-z_]\w*)\s*=\s*(\d+)")


def own_setup(text: str, file_name: str) -> ast.FunctionDef | None:
    """The function at the top level of a kernel's file, if there is one. Raises DraftError."""
    functions = (n for n in parsed(text, file_name).body if isinstance(n, ast.FunctionDef))
    return next((node for node in functions if node.name == SETUP), None)


def with_own_setup(
    draft_of: Mapping[str, str],
    function: ast.FunctionDef,
    kernel: tuple[str, str],
    reference: str,
    sizes: Iterable[str],
) -> ProblemDraft:
    """A problem whose inputs the kernel's own `setup` makes, once and for all.

    draft_of: name and title. kernel: file name and text. sizes: of each case, as "N=1024 D=64".
    Raises DraftError.
    """
    if f"def {REFERENCE}(" not in reference:
        raise DraftError("reference", f"a function {REFERENCE}(**inputs) is needed beside {SETUP}")
    listed = dict(parameters(function.args))
    cases = dict(_cases(listed, sizes))
    # The same `setup`, on the device that is asked for.
    moved = on_any_device(needed_by(kernel[1], SETUP), "device")
    plain = f"def {SETUP}("
    if "device" not in listed and f"{plain}*," in moved:
        moved = moved.replace(f"{plain}*,", f"{plain}*, device,", 1)
    elif "device" not in listed:
        moved = moved.replace(plain, f"{plain}*, device, ", 1)
    return ProblemDraft(
        name=draft_of["name"],
        title=draft_of["title"],
        args=(),
        reference=ReferenceCode(reference, REFERENCE, (), returns=False),
        cases=cases,
        kernels={"triton": ("v0.py", kernel[1])},
        own_ref=f"{reference.rstrip()}\n\n\n{moved}",
        assumed=(
            f"Inputs are made by the kernel's own {SETUP}, as it is now: later kernels cannot "
            "change it.",
            "Its tensors are made on the device that is asked for, instead of on cuda.",
        ),
    )


def _cases(
    listed: Mapping[str, ast.expr | None], sizes: Iterable[str]
) -> Iterator[tuple[str, dict[str, int]]]:
    """listed: the parameters of `setup`; their defaults are the case where none is given."""
    names = [name for name in listed if name not in GIVEN]
    usual = {
        name: default.value
        for name, default in listed.items()
        if name in names and isinstance(default, ast.Constant) and isinstance(default.value, int)
    }
    given = [{name: int(size) for name, size in SIZE.findall(text)} for text in sizes]
    for case in given or [usual]:
        if set(case) != set(names):
            raise DraftError(
                "call",
                f"sizes of a case are needed, such as {' '.join(f'{n}=1024' for n in names)}",
            )
        yield "x".join(str(case[name]) for name in names) or "given", case
