"""An example call is proposed where a reference tells its arguments' shapes, and not guessed."""

import pytest

from campaigns.problems.import_.example_calls import proposed_call, read_call
from campaigns.problems.import_.written import TensorValue

ANNOTATED = """
def norm(x: Float[Tensor, "N D"], w: Float[Tensor, "D"], eps: float):
    return x * w
"""
TOLD = '''
def norm(x, w, eps=1e-6):
    """Normalise.

    x: (N, D), fp16
    w: (D,)
    """
    return x * w
'''
COMMENTED = """
def mm(
    a: torch.Tensor,  # [M, K] bf16
    b: torch.Tensor,  # [K, N] bf16
):
    return a @ b
"""
UNPACKED = """
def mm(a, b):
    M, K = a.shape
    K, N = b.size()
    return a @ b
"""
MODULE = """
class Model(nn.Module):
    def forward(self, tokens: "i64[B, S]", table: "f32[V, D]"):
        return table[tokens]
"""


@pytest.mark.parametrize(
    ("text", "name", "call"),
    [
        (ANNOTATED, "norm", "N, D = 1024, 512; norm(torch.randn(N, D), torch.randn(D), 1e-6)"),
        (TOLD, "norm",
         "N, D = 1024, 512; norm(torch.randn(N, D, dtype=torch.float16), torch.randn(D))"),
        (COMMENTED, "mm", "M, K, N = 1024, 512, 256; mm(torch.randn(M, K, dtype=torch.bfloat16), "
         "torch.randn(K, N, dtype=torch.bfloat16))"),
        (UNPACKED, "mm", "M, K, N = 1024, 512, 256; mm(torch.randn(M, K), torch.randn(K, N))"),
        (MODULE, "Model", "B, S, V, D = 8, 1024, 512, 256; "
         "Model()(torch.randint(0, 8, (B, S,)), torch.randn(V, D))"),
        ("def f(x: 'f32[n]', n: int):\n    return x", "f", "n = 1024; f(torch.randn(n), n)"),
        ("def f(x, y):\n    n, d = x.shape\n    return x + y", "f", ""),
        ("def f(x: torch.Tensor):\n    return x", "f", ""),
        ("def f(", "f", ""),
        ("def f(x): return x", "g", ""),
    ],
)  # fmt: skip
def test_a_call_is_proposed_from_what_the_source_tells(text, name, call):
    assert proposed_call(text, name) == call


@pytest.mark.parametrize(
    ("text", "name"), [(ANNOTATED, "norm"), (TOLD, "norm"), (COMMENTED, "mm"), (MODULE, "Model")]
)
def test_what_is_proposed_is_understood(text, name):
    listed, _ = read_call(proposed_call(text, name))
    assert isinstance(listed[0], TensorValue)
