"""A table that is read twice: once for tokens, once for logits."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens):
        return self.head(self.table(tokens))


batch, length = 2, 16
words, width = 20, 8


def get_inputs():
    return [torch.randint(0, words, (batch, length))]


def get_init_inputs():
    return [words, width]
