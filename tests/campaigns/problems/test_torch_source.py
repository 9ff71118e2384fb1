"""Reference implementations hold what `reference` needs, and nothing that makes inputs."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import shipped_problems
from campaigns.problems.torch_source import (
    NoSource,
    compiled_source,
    eager_source,
    library_source,
)

REF = """
import random

import torch

SCALE: float = 2.0


def scaled(x):
    return x * SCALE


def setup(*, N, seed, device):
    random.seed(seed)


def reference(*, x, y, N):
    y.copy_(scaled(x))
"""


def entry(source: Source):
    found: dict[str, object] = {}
    exec(source.text, found)
    return found["run_kernel"]


@pytest.mark.parametrize(
    "source",
    [eager_source(REF), library_source(REF, "torch.mul(x, 2, out=y)")],
    ids=["eager", "library"],
)
def test_it_computes_what_the_reference_does(source):
    x, y = torch.arange(4.0), torch.empty(4)
    entry(source)(x=x, y=y, N=4)
    assert torch.equal(y, 2 * x)
    assert "setup" not in source.text
    assert "seed" not in source.text


@pytest.mark.parametrize(
    ("mode", "call"),
    [
        ("", "torch.compile(reference, dynamic=False)"),
        ("max-autotune", "torch.compile(reference, dynamic=False, mode='max-autotune')"),
    ],
)
def test_it_compiles_each_shape_for_itself(mode, call):
    text = compiled_source(REF, mode).text
    assert text.endswith(f"run_kernel = {call}\n")
    assert "setup" not in text


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("from other import reference\n", "ref.py defines no function reference of its own"),
        ("def reference(:\n", "ref.py:1: "),
    ],
)
def test_it_says_why_there_is_none(ref, why):
    for made in (eager_source, compiled_source, lambda text: library_source(text, "torch.add(x)")):
        with pytest.raises(NoSource, match=why):
            made(ref)


def test_a_problem_that_names_no_library_has_none():
    with pytest.raises(NoSource, match=r"problem\.toml names no `library`"):
        library_source(REF, "")


@pytest.mark.parametrize("problem", shipped_problems(), ids=lambda problem: problem.name)
def test_every_shipped_problem_has_its_source(problem):
    ref = (problem.folder / "ref.py").read_text()
    assert callable(entry(eager_source(ref)))
    if problem.call_of_library:
        assert callable(entry(library_source(ref, problem.call_of_library)))
