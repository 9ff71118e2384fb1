"""Two ways to pool, side by side."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.most = nn.MaxPool2d(size)
        self.mean = nn.AvgPool2d(size)

    def forward(self, x):
        return torch.cat((self.most(x), self.mean(x)), dim=1)


batch, side = 2, 32
size = 2


def get_inputs():
    return [torch.rand(batch, 3, side, side)]


def get_init_inputs():
    return [size]
