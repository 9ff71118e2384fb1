"""Every honest kernel can stand beside another one, also beside a dispatcher (R19)."""

from __future__ import annotations

import ast
import subprocess

import pytest

from campaigns.benchmarks.trick import Trick
from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.programs import cpp_compiler as compiler
from campaigns.proposers.dispatch.generate import dispatcher, given_integers
from campaigns.proposers.dispatch.parts import DispatchPlan, Part
from campaigns.rules.verdict.predicate import ColumnRange, Predicate
from tests.evaluator.tricks.outcome import params


def beside_itself(trick: Trick, times: int) -> Source:
    """As many dispatchers, one inside the next, so that whatever can clash does."""
    plain = Source(trick.path.name, trick.path.read_text(), tuple(trick.flags))
    asked = min(given_integers(trick.backend, plain))
    when = Predicate(((ColumnRange(asked, 10, None),),))
    made = plain
    for number in range(1, times + 1):
        parts = Part(f"round_{2 * number}", made), Part(f"round_{2 * number + 1}", plain)
        made = dispatcher(trick.backend, DispatchPlan(*parts, plain, when))
    return made


@pytest.mark.parametrize("trick", params("honest", "cpp"))
def test_r19_an_honest_kernel_can_be_a_part_of_a_dispatcher(trick, tmp_path):
    made = beside_itself(trick, 2)
    path = tmp_path / "kernel.cpp"
    path.write_text(made.text)
    command = [compiler(), "-std=c++17", *made.flags, "-fsyntax-only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("trick", params("honest", "triton"))
def test_r19_an_honest_module_can_be_a_part_of_a_dispatcher(trick):
    made = beside_itself(trick, 2)
    defined = [node for node in ast.parse(made.text).body if isinstance(node, ast.FunctionDef)]
    names = [node.name for node in defined]
    assert names.count("run_kernel") == 1
    assert len(names) == len(set(names))
