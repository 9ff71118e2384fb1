"""A transposed convolution with a bias of an own shape."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, 4, 3, stride=2)
        self.bias = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        return torch.tanh(self.conv(x) - self.bias)


batch = 2
channels = 3
side = 16
shape = (4, 1, 1)


def get_inputs():
    return [torch.rand(batch, channels, side, side)]


def get_init_inputs():
    return [channels, shape]
