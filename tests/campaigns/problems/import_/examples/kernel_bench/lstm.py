"""A recurrent layer with its states."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, batch_first=True, dropout=0.0)

    def forward(self, x, h0, c0):
        return self.lstm(x, (h0, c0))


batch, length = 2, 8
width, hidden = 6, 5


def get_inputs():
    return [torch.randn(batch, length, width), *torch.rand(2, 1, batch, hidden)]


def get_init_inputs():
    return [width, hidden]
