"""Inputs of the calls of one burst: no two slots get the same, whatever they are made of."""

from __future__ import annotations

import random

import pytest
import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge.correctness.fresh_inputs import SOME, InputSupply
from campaigns.evaluator.judge.correctness.one_pass import TorchPasses
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference

REF = """
import torch

drawn = 0

def setup(*, N, seed, device):
    global drawn
    drawn += 1
    g = torch.Generator(device=device).manual_seed(seed)
    x = (DRAW).to(torch.DTYPE)
    at = torch.randperm(N, generator=g, device=device)
    one = torch.randn(1, generator=g, device=device)
    inputs = {"x": x, "at": at, "one": one, "y": torch.empty(N), "N": N}
    for name in "LEFT_OUT".split():
        del inputs[name]
    return {"inputs": inputs, "outputs": ["y"]}

def reference(*, y, **arguments):
    y.zero_()
"""
CASE = Case("n64", {"N": 64})
SLOTS = 6
SEED = 1


DRAW = "torch.randn(N, generator=g, device=device, dtype=torch.DTYPE)"


def written(folder, refresh, left_out="", dtype="float32", draw=DRAW):
    """Name of an input → what the slots of one burst would hold; and how often setup was called."""
    text = REF.replace("LEFT_OUT", left_out).replace("DRAW", draw).replace("DTYPE", dtype)
    (folder / "ref.py").write_text(text)
    code = ProblemCode(folder)
    reference = Reference(code)
    layout = reference.layout(CASE, "cpu")
    supply = InputSupply(reference, CASE, layout, "cpu", TorchPasses())
    # What is drawn in secret is drawn alike here: a few values of all end in zeros by chance.
    supply.draw = random.Random(SEED)
    supply.generator.manual_seed(SEED)
    before = code._setup.__globals__["drawn"]
    truth = supply.fresh(SLOTS, refresh)
    after = code._setup.__globals__["drawn"]
    made = {}
    for arg in layout.inputs:
        made[arg.name] = torch.empty(SLOTS, arg.count, dtype=getattr(torch, arg.dtype))
        truth.write(arg, 0, made[arg.name])
    return made, after - before


@pytest.mark.parametrize("refresh", ["setup", "shift"])
def test_no_two_slots_of_a_burst_are_alike(tmp_path, refresh):
    made, _ = written(tmp_path, refresh)
    for name in ("x", "at"):
        assert len(torch.unique(made[name], dim=0)) == SLOTS, name


def test_integers_keep_the_order_that_setup_gave_them(tmp_path):
    made, _ = written(tmp_path, "shift")
    assert torch.equal(made["at"].sort(dim=1).values, torch.arange(64).expand(SLOTS, 64))


def test_integers_alone_differ_as_well(tmp_path):
    made, _ = written(tmp_path, "shift", left_out="x one")
    assert len(torch.unique(made["at"], dim=0)) == SLOTS


def test_floats_alone_cost_one_setup(tmp_path):
    made, calls = written(tmp_path, "shift", left_out="at one")
    assert calls == 1
    assert len(torch.unique(made["x"], dim=0)) == SLOTS


def test_inputs_of_one_element_differ_between_slots_of_a_burst(tmp_path):
    made, calls = written(tmp_path, "shift", left_out="at")
    assert made["one"].shape == (SLOTS, 1)
    assert len(torch.unique(made["one"])) == SLOTS
    # What setup draws is learnt once, and costs nothing afterwards.
    assert calls == 1 + SOME


def test_an_input_of_one_element_that_never_changes_stays_what_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tests.evaluator.judge.correctness.test_fresh_inputs.REF",
        REF.replace("torch.randn(1,", "torch.ones(1)  # "),
    )
    made, _ = written(tmp_path, "shift", left_out="at")
    assert torch.equal(made["one"], torch.ones(SLOTS, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_value_comes_again_in_another_slot(tmp_path, dtype):
    made, _ = written(tmp_path, "shift", left_out="at one", dtype=dtype)
    values = made["x"].unique()
    assert len(values) > 0.95 * made["x"].numel()
    assert float(values.abs().max()) < 6


def test_exact_values_stay_as_they_are(tmp_path):
    made, _ = written(tmp_path, "shift", left_out="at one", draw="torch.randint(0, 1000, (N,)) / 8")
    assert torch.equal(made["x"] * 8, (made["x"] * 8).round())
    assert len(torch.unique(made["x"], dim=0)) == SLOTS
