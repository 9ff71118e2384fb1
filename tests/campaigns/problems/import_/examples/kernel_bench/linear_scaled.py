"""A layer, scaled by a weight that is a single number."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.linear = nn.Linear(width, hidden)
        self.factor = nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        return torch.relu(self.linear(x)) * self.factor


rows = 20
width, hidden = 24, 16


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, hidden]
