"""Tasks of GPU MODE: `task.yml`, `reference.py` with its inputs and answer, and a submission.

Schema: gpu-mode/reference-kernels. `generate_input(**sizes, seed)` makes the `data` of `ref_kernel`
and of `custom_kernel`, a submission; without one the reference is the first to beat.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import yaml

from campaigns.problems.import_.draft import (
    MOST_CASES,
    NO_KERNEL,
    DraftError,
    Number,
    ProblemDraft,
    ReferenceCode,
    case_name,
    slug_of,
)
from campaigns.problems.import_.read_sources import needed_by, on_any_device, parsed

INPUTS, ANSWER, KERNEL = "generate_input", "ref_kernel", "custom_kernel"
HEAD = """from __future__ import annotations

from contextlib import nullcontext as DeterministicContext

import torch

_device = "cpu"
"""
ADAPTER = """

# What follows was written by kopt.
def _listed(data):
    return list(data) if isinstance(data, (tuple, list)) else [data]


def _answers(data):
    return _listed(ref_kernel(data[0] if len(data) == 1 else tuple(data)))


def setup(*, {sizes}, seed, device):
    global _device
    _device = device
    data = _listed(generate_input({given}, seed=seed))
    inputs = {{f"data{{n}}": each for n, each in enumerate(data)}}
    copies = [each.clone() if isinstance(each, torch.Tensor) else each for each in data]
    answers = {{f"out{{n}}": torch.empty_like(each) for n, each in enumerate(_answers(copies))}}
    return {{"inputs": inputs | answers, "outputs": list(answers)}}


def reference(**arguments):
    data = [each for name, each in arguments.items() if name.startswith("data")]
    places = [each for name, each in arguments.items() if name.startswith("out")]
    copies = [each.clone() if isinstance(each, torch.Tensor) else each for each in data]
    for place, answer in zip(places, _answers(copies), strict=True):
        place.copy_(answer)
"""
CALL = """

def run_kernel(**arguments):
    data = [each for name, each in arguments.items() if name.startswith("data")]
    places = [each for name, each in arguments.items() if name.startswith("out")]
    answers = custom_kernel(data[0] if len(data) == 1 else tuple(data))
    answers = answers if isinstance(answers, (tuple, list)) else (answers,)
    for place, answer in zip(places, answers, strict=True):
        place.copy_(answer)
"""


def read_task(name: str, task: str, reference: str, submission: str) -> ProblemDraft:
    """name: of the task. The rest are the texts of its files. Raises DraftError."""
    cases = _cases(task)
    _require(reference, "reference", INPUTS, ANSWER)
    eager = not submission.strip()
    if not eager:
        _require(submission, "solution", KERNEL)
    sizes = tuple(next(iter(cases.values())))
    text = HEAD + on_any_device(_needed(reference), "_device")
    adapter = ADAPTER.format(
        sizes=", ".join(sizes), given=", ".join(f"{size}={size}" for size in sizes)
    )
    kernel = _without_task(submission)
    if eager:
        kernel = f"{HEAD}{_without_task(needed_by(reference, ANSWER))}\n\n{KERNEL} = {ANSWER}\n"
    plain = slug_of(name) or "task"
    return ProblemDraft(
        name=plain,
        title=plain.replace("_", " ").capitalize(),
        args=(),
        reference=ReferenceCode(reference, ANSWER, (), returns=True),
        cases=cases,
        kernels={"triton": ("v0.py", kernel.rstrip("\n") + "\n" + CALL)},
        own_ref=text.rstrip("\n") + "\n" + adapter,
        assumed=(
            *((NO_KERNEL,) if eager else ()),
            f"Inputs are what {INPUTS} makes, as data0, data1, …; tensors that it hands over for "
            "answers are inputs as well, and are not looked at.",
            f"What {KERNEL} returns is copied, and the copy is timed.",
        ),
    )


def _cases(task: str) -> dict[str, dict[str, Number]]:
    try:
        found: Any = yaml.safe_load(task)
    except yaml.YAMLError as error:
        raise DraftError("definition", f"no YAML: {' '.join(str(error).split())}") from None
    found = found if isinstance(found, dict) else {}
    listed = found.get("benchmarks") or found.get("tests")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise DraftError("definition", "benchmarks: a list of sizes is needed")
    cases: dict[str, dict[str, Number]] = {}
    for each in listed[:MOST_CASES]:
        sizes = {str(key): value for key, value in each.items() if key != "seed"}
        bad = [k for k, v in sizes.items() if not k.isidentifier() or not isinstance(v, Number)]
        if bad or not sizes:
            raise DraftError(
                "definition", f"benchmarks: {bad or each}; accepted: numbers and words"
            )
        cases[case_name(sizes.values())] = sizes
    if len({tuple(sizes) for sizes in cases.values()}) != 1:
        raise DraftError("definition", "benchmarks: every one needs the same sizes")
    return cases


def _require(text: str, field: str, *names: str) -> None:
    defined = {node.name for node in parsed(text, field).body if isinstance(node, ast.FunctionDef)}
    for name in names:
        if name not in defined:
            raise DraftError(field, f"no function {name}(…)")


def _needed(reference: str) -> str:
    """Inputs and answer, without what only the host of the competition has."""
    return _without_task(needed_by(reference, INPUTS, ANSWER))


def _without_task(text: str) -> str:
    """The text without its imports of the competition's own modules."""
    own = re.compile(r"^\s*from (task|utils) import .*$", re.MULTILINE)
    return own.sub("", text)
