"""A softmax of what a mask leaves."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, mask):
        return torch.softmax(x.masked_fill(mask, -1e4), dim=-1)


rows, width = 16, 24


def get_inputs():
    return [torch.randn(rows, width), torch.rand(rows, width) > 0.7]


def get_init_inputs():
    return []
