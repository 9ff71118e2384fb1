"""Rotary positions from tables that the module keeps to itself."""

import torch


class Model(torch.nn.Module):
    def __init__(self, longest, half):
        super().__init__()
        angles = torch.outer(torch.arange(longest).float(), 1e4 ** (-torch.arange(half) / half))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, q, k):
        def turned(x):
            one, other = x.chunk(2, dim=-1)
            cos, sin = self.cos[: x.shape[1]], self.sin[: x.shape[1]]
            return torch.cat((one * cos - other * sin, other * cos + one * sin), dim=-1)

        return turned(q), turned(k)


batch, tokens = 2, 16
longest, half = 32, 8


def get_inputs():
    return [torch.randn(batch, tokens, 2 * half), torch.randn(batch, tokens, 2 * half)]


def get_init_inputs():
    return [longest, half]
