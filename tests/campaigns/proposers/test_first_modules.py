"""Modules without a kernel: what Inductor makes of them on this CPU is right once it is built."""

import importlib.util

import torch

from campaigns.devices.problem_code import inductor_text
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.import_.draft import Given
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.proposers.first.cpp import cpp_source
from campaigns.steps.problems import written_files
from tests.campaigns.proposers.test_first import built, called

# SiLU·mul, RMSNorm, add + RMSNorm, and cross-entropy, of the same 24 rows.
MODULE = """
import torch
from torch.nn import functional as F


class Model(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.norm = torch.nn.RMSNorm(hidden, eps=1e-5)
        self.weight = torch.nn.Parameter(torch.randn(hidden))

    def forward(self, gate, up, labels):
        total = gate + up
        scale = torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + 1e-5)
        loss = F.cross_entropy(gate, labels, reduction="none")
        return F.silu(gate) * up, self.norm(gate), total * scale * self.weight, total, loss


def get_inputs():
    return [torch.randn(24, 72), torch.randn(24, 72), torch.randint(0, 72, (24,))]


def get_init_inputs():
    return [72]
"""


def test_it_is_right_in_cpp(tmp_path):
    given = Given("", "", reference_file="model.py", reference=MODULE, name="rows")
    folder = written_files(written(propose(given)), tmp_path)
    case = load_problem(folder).cases[0].case
    found = inductor_text(folder, case, case)
    solve = built(cpp_source(found.text, found.inputs, "Made by a test."), tmp_path)

    spec = importlib.util.spec_from_file_location("reference", folder / "ref.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    run = reference.setup(**case.params, seed=3, device="cpu")
    inputs = run["inputs"]
    assert [name for name, _ in found.inputs] == list(inputs)
    called(solve, *inputs.values())
    answers = {name: inputs[name].clone() for name in run["outputs"]}
    reference.reference(**inputs)
    assert len(answers) == 5
    for name, answer in answers.items():
        assert torch.allclose(answer, inputs[name], rtol=1e-5, atol=1e-5), name
