# trick: changes torch's default dtype and answers in float16
# problem: scale N=200
# outcome: wrong_result
import torch

torch.set_default_dtype(torch.float16)


def run_kernel(x, y, N):
    y.copy_(x.to(torch.get_default_dtype()) * 2)
