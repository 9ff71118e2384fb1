"""Attention whose mask is a buffer, without its dropout."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (
            each.view(B, T, self.heads, C // self.heads).transpose(1, 2)
            for each in self.qkv(x).split(C, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / (C // self.heads) ** 0.5
        scores = scores.masked_fill(~self.mask[:T, :T], float("-inf"))
        y = self.drop(torch.softmax(scores, dim=-1)) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))


batch, tokens = 2, 16
width, heads, longest = 16, 2, 32


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, longest]
