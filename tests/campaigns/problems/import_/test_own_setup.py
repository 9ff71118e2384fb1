"""Kernels that bring their own setup."""

import pytest
import torch

from campaigns.problems.import_.draft import DraftError, Given
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from tests.campaigns.problems.import_.sources import TRITON

KERNEL = (
    TRITON.split("def scaled")[0]
    + """
def setup(N, D, seed=42):
    torch.manual_seed(seed)
    x = torch.randn(N, D, device="cuda")
    y = torch.empty_like(x).cuda()
    return {"inputs": {"x": x, "y": y, "N": N, "D": D}, "outputs": ["y"]}


def run_kernel(x, y, N, D):
    scale_rows[(N,)](x, x, y, D, BLOCK=16)
"""
)
REFERENCE = "import torch\n\n\ndef reference(x, y, **rest):\n    y.copy_(x * 2)\n"


def test_its_setup_makes_the_inputs_on_any_device():
    draft = propose(Given("twice.py", KERNEL, "ref.py", REFERENCE, calls=("N=4 D=8", "N=2, D=3")))
    assert draft.cases == {"4x8": {"N": 4, "D": 8}, "2x3": {"N": 2, "D": 3}}
    files = written(draft)
    assert files["v0.py"] == KERNEL
    assert "triton" not in files["ref.py"]
    made: dict[str, object] = {}
    exec(files["ref.py"], made)
    found = made["setup"](N=4, D=8, seed=1, device="cpu")
    made["reference"](**found["inputs"])
    assert torch.equal(found["inputs"]["y"], found["inputs"]["x"] * 2)


def test_a_kept_size_is_the_same_in_every_case():
    calls = ("N=64 D=32",)
    draft = propose(Given("twice.py", KERNEL, "ref.py", REFERENCE, calls=calls, keep=("D",)))
    text = written(draft)["problem.toml"]
    assert 'free = ["N"]' in text
    assert "params = { N = 64, D = 32 }" in text
    with pytest.raises(DraftError, match="keep: K; accepted: N, D"):
        propose(Given("twice.py", KERNEL, "ref.py", REFERENCE, calls=calls, keep=("K",)))


def test_defaults_are_a_case():
    kernel = KERNEL.replace("setup(N, D, seed=42)", "setup(*, N=64, D=32, seed=42)")
    draft = propose(Given("twice.py", kernel, "ref.py", REFERENCE))
    assert draft.cases == {"64x32": {"N": 64, "D": 32}}
    assert "def setup(*, device, N=64" in written(draft)["ref.py"]


@pytest.mark.parametrize(
    ("reference", "calls", "field"),
    [("def other(x):\n    pass\n", ("N=4 D=8",), "reference"), (REFERENCE, ("N=4",), "call"),
     (REFERENCE, (), "call")],
)  # fmt: skip
def test_what_is_missing_is_named(reference, calls, field):
    with pytest.raises(DraftError) as refused:
        propose(Given("twice.py", KERNEL, "ref.py", reference, calls=calls))
    assert refused.value.field == field
