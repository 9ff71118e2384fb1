"""A gated layer in bfloat16."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        gate, value = self.up(x).chunk(2, dim=-1)
        return F.silu(gate) * value


rows = 16
width = 16


def get_inputs():
    return [torch.randn(rows, width, dtype=torch.bfloat16)]


def get_init_inputs():
    return [width]
