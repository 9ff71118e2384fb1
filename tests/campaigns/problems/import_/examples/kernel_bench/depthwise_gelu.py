"""A convolution of each channel by itself."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 4, groups=channels, bias=False)

    def forward(self, x):
        return F.gelu(self.conv(x))


batch = 2
channels = 8
length = 40


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels]
