"""A layer in float16."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.linear = nn.Linear(width, hidden, dtype=torch.float16)

    def forward(self, x):
        return F.leaky_relu(self.linear(x))


rows = 16
width, hidden = 32, 16


def get_inputs():
    return [torch.randn(rows, width, dtype=torch.float16)]


def get_init_inputs():
    return [width, hidden]
