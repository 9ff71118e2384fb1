"""Tasks of GPU MODE: `task.yml`, `reference.py` with its inputs and answer, and a submission.

Schema: gpu-mode/reference-kernels. `generate_input(**sizes, seed)` makes the `data` of `ref_kernel`
and of `custom_kernel`, a submission; without one the reference is the first to beat.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import yaml

from campaigns.evaluator.contract.problem_words import PARAM
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

# Before the name of a size that means something else here.
OTHERS = "its_"
INPUTS, ANSWER, KERNEL = "generate_input", "ref_kernel", "custom_kernel"
OWN_IMPORT = re.compile(
    r"^(?P<before>\s*)from (?P<module>task|utils) import (?P<names>\([^)]*\)|[^\n]*)", re.MULTILINE
)
HEAD = """from contextlib import nullcontext as _nothing

import torch

_device = "cpu"
"""
PLACES = """

# What follows was written by kopt.
def _listed(data):
    return list(data) if isinstance(data, (tuple, list)) else [data]


def _put(answers, arguments):
    for n, answer in enumerate(_listed(answers)):
        place = next(each for name, each in arguments.items() if name.endswith(f"out{n}"))
        if place is not answer:
            place.copy_(answer)


def _data(arguments):
    data = [each for name, each in arguments.items() if name.startswith("data")]
    return data[0] if len(data) == 1 else tuple(data)
"""
ADAPTER = """

def _copied(data):
    copies = [each.clone() if isinstance(each, torch.Tensor) else each for each in _listed(data)]
    return copies[0] if len(copies) == 1 else tuple(copies)


def setup(*, seed, device, **sizes):
    global _device
    _device = device
    data = generate_input(
        **{name.removeprefix("its_"): size for name, size in sizes.items()}, seed=seed
    )
    copies = _copied(data)
    answers = _listed(ref_kernel(copies))
    # An answer may be a tensor of the data, which is then its place.
    places = {id(answer): f"_out{n}" for n, answer in enumerate(answers)}
    names = [f"data{n}{places.get(id(each), '')}" for n, each in enumerate(_listed(copies))]
    inputs = dict(zip(names, _listed(data)))
    known = {id(each) for each in _listed(copies)}
    for n, answer in enumerate(answers):
        if id(answer) not in known:
            inputs[f"out{n}"] = torch.empty_like(answer)
    return {"inputs": inputs, "outputs": [name for name in inputs if "out" in name]}


def reference(**arguments):
    _put(ref_kernel(_copied(_data(arguments))), arguments)
"""
CALL = """

def run_kernel(**arguments):
    _put(custom_kernel(_data(arguments)), arguments)
"""


def read_task(name: str, task: str, reference: str, submission: str) -> ProblemDraft:
    """name: of the task. The rest are the texts of its files. Raises DraftError."""
    cases = _cases(task)
    _require(reference, "reference", INPUTS, ANSWER)
    eager = not submission.strip()
    if not eager:
        _require(submission, "solution", KERNEL)
    own = _without_task(needed_by(reference, INPUTS, ANSWER))
    text = HEAD + on_any_device(own, "_device")
    kernel = f"{HEAD}{_without_task(submission)}"
    if eager:
        kernel = f"{HEAD}{_without_task(needed_by(reference, ANSWER))}\n\n{KERNEL} = {ANSWER}\n"
    plain = slug_of(name) or "task"
    return ProblemDraft(
        name=plain,
        title=plain.replace("_", " ").capitalize(),
        args=(),
        reference=ReferenceCode(reference, ANSWER, (), returns=True),
        cases=cases,
        kernels={"triton": ("v0.py", kernel.rstrip("\n") + "\n" + PLACES + CALL)},
        own_ref=text.rstrip("\n") + "\n" + PLACES + ADAPTER,
        assumed=(
            *((NO_KERNEL,) if eager else ()),
            f"Inputs are what {INPUTS} makes, as data0, data1, …; one that {ANSWER} returns is "
            "the answer's place.",
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
        named = {str(key): value for key, value in each.items() if key != "seed"}
        # Under names that a case of ours may give.
        taken = (PARAM, "device")
        sizes = {f"{OTHERS}{n}" if n in taken else n: value for n, value in named.items()}
        bad = [k for k, v in sizes.items() if not k.isidentifier() or not isinstance(v, Number)]
        if bad or not sizes:
            raise DraftError(
                "definition", f"benchmarks: {bad or each}; accepted: numbers and words"
            )
        cases[case_name(sizes.values())] = sizes
    return cases


def _require(text: str, field: str, *names: str) -> None:
    defined = {node.name for node in parsed(text, field).body if isinstance(node, ast.FunctionDef)}
    for name in names:
        if name not in defined:
            raise DraftError(field, f"no function {name}(…)")


def _without_task(text: str) -> str:
    """The text without its imports of the competition's own modules.

    Types of these stay names, and what a host of it would set up around a call does nothing.
    """

    def in_its_place(found: re.Match[str]) -> str:
        names = re.findall(r"\w+", found["names"])
        stands = "object" if found["module"] == "task" else "_nothing"
        return found["before"] + " = ".join([*names, stands] if names else [])

    return OWN_IMPORT.sub(in_its_place, text)
