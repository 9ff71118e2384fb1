"""A loss of three inputs with a margin that the module is made with."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.loss = nn.TripletMarginLoss(margin=margin)

    def forward(self, anchor, positive, negative):
        return self.loss(anchor, positive, negative)


rows, width = 16, 32
margin = 1.0


def get_inputs():
    return [torch.rand(rows, width), torch.rand(rows, width), torch.rand(rows, width)]


def get_init_inputs():
    return [margin]
