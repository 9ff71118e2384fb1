"""A convolution, a norm of the batch and an activation in place."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(2 * channels)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


batch = 4
channels = 3
side = 16


def get_inputs():
    return [torch.rand(batch, channels, side, side)]


def get_init_inputs():
    return [channels]
