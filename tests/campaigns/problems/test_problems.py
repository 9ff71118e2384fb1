"""The shipped problems: complete, consistent, and their v0 for this CPU is right."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from campaigns.evaluator.contract.problem_reader import load_problem

FOLDER = Path("campaigns/problems")
NAMES = ("layernorm", "matmul", "softmax", "vector_add")
SMALL: dict[str, dict[str, int]] = {
    "layernorm": {"N": 5, "D": 67},
    "matmul": {"M": 19, "K": 23, "N": 29},
    "softmax": {"N": 5, "D": 67},
    "vector_add": {"N": 1003},
}


def reference_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ref_{name}", FOLDER / name / "ref.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_cpp(text: str, flags: tuple[str, ...], inputs: dict[str, Any], folder: Path) -> None:
    path, library = folder / "candidate.cpp", folder / "candidate.so"
    path.write_text(text)
    command = ["g++", "-O2", "-std=c++17", "-shared", "-fPIC", *flags, "-o", library, path]
    subprocess.run(command, check=True, capture_output=True)
    ctypes.CDLL(str(library)).solve(
        *(
            ctypes.c_void_p(value.data_ptr()) if torch.is_tensor(value) else ctypes.c_int(value)
            for value in inputs.values()
        )
    )


def worst_margin(name: str, run: dict[str, Any]) -> float:
    """The largest error as a share of its tolerance against the reference in double precision."""
    problem = load_problem(FOLDER / name)
    exact = {k: v.double() if torch.is_tensor(v) else v for k, v in run["inputs"].items()}
    reference_module(name).reference(**exact)
    margins = []
    for output in run["outputs"]:
        error = (run["inputs"][output].double() - exact[output]).abs()
        margins.append((error / (problem.atol + problem.rtol * exact[output].abs())).max())
    return float(torch.stack(margins).nan_to_num(nan=float("inf")).max())


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_with_cases_for_both_kinds_of_device(name):
    problem = load_problem(FOLDER / name)
    assert problem.name == name
    assert {"cpp", "triton", "cuda"} == set(problem.files)
    assert problem.cases_on("cpu")
    assert problem.cases_on("gpu")


@pytest.mark.parametrize("name", NAMES)
def test_it_has_cases_that_an_interpreter_is_soon_through_with(name):
    for case in load_problem(FOLDER / name).cases_of("triton", "cpu"):
        made = reference_module(name).setup(**case.params, seed=1, device="cpu")["inputs"]
        tensors = [one for one in made.values() if isinstance(one, torch.Tensor)]
        assert max(one.numel() for one in tensors) <= 1 << 16


@pytest.mark.parametrize("name", NAMES)
def test_it_repeats_its_inputs_for_a_seed_and_changes_them_with_it(name):
    setup = reference_module(name).setup
    first, again, other = (setup(**SMALL[name], seed=s, device="cpu") for s in (1, 1, 2))
    key = next(iter(first["inputs"]))
    assert torch.equal(first["inputs"][key], again["inputs"][key])
    assert not torch.equal(first["inputs"][key], other["inputs"][key])


@pytest.mark.parametrize("name", NAMES)
def test_it_counts_the_bytes_of_every_tensor_once(name):
    module = reference_module(name)
    run = module.setup(**SMALL[name], seed=1, device="cpu")
    tensors = [value for value in run["inputs"].values() if torch.is_tensor(value)]
    flops, moved = module.work(**SMALL[name])
    assert moved == sum(t.numel() * t.element_size() for t in tensors)
    assert flops > 0


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_right_v0_for_the_cpu(name, tmp_path):
    run = reference_module(name).setup(**SMALL[name], seed=1, device="cpu")
    for output in run["outputs"]:
        run["inputs"][output].fill_(float("nan"))
    run_cpp((FOLDER / name / "v0.cpp").read_text(), (), run["inputs"], tmp_path)
    assert worst_margin(name, run) <= 1


def test_it_notices_an_output_that_nobody_wrote():
    run = reference_module("softmax").setup(**SMALL["softmax"], seed=1, device="cpu")
    run["inputs"]["output"].fill_(float("nan"))
    assert worst_margin("softmax", run) > 1


@pytest.mark.parametrize("backward", [0, 1])
def test_r14_linear_has_a_right_v0_in_both_directions(backward, tmp_path):
    sizes = {"M": 19, "K": 23, "N": 29, "BACKWARD": backward}
    run = reference_module("linear").setup(**sizes, seed=1, device="cpu")
    assert run["outputs"] == (["dx", "dw"] if backward else ["y"])
    for output in run["outputs"]:
        run["inputs"][output].fill_(float("nan"))
    run_cpp((FOLDER / "linear" / "v0.cpp").read_text(), (), run["inputs"], tmp_path)
    assert worst_margin("linear", run) <= 1


def test_r14_linear_counts_six_operations_a_product_and_every_tensor_of_a_direction_once():
    sizes = {"M": 19, "K": 23, "N": 29}
    module = reference_module("linear")
    flops, bytes_ = zip(*(module.work(**sizes, BACKWARD=half) for half in (0, 1)), strict=True)
    assert sum(flops) == 6 * 19 * 23 * 29
    for half, moved in enumerate(bytes_):
        run = module.setup(**sizes, BACKWARD=half, seed=1, device="cpu")
        used = [v for v in run["inputs"].values() if torch.is_tensor(v) and v.numel() > 1]
        assert moved == 4 * sum(value.numel() for value in used)


def test_r14_linear_is_a_step_of_two_directions_on_each_kind_of_device():
    problem = load_problem(FOLDER / "linear")
    assert {"cpp", "triton"} == set(problem.files)
    for kind in ("cpu", "gpu"):
        assert [case.direction for case in problem.cases_on(kind)] == ["forward", "backward"]
        assert len({case.step for case in problem.cases_on(kind)}) == 1
