import torch


def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=g, device=device)
    y = torch.empty(N, dtype=torch.bool, device=device)
    return {"inputs": {"x": x, "y": y, "N": N}, "outputs": ["y"]}


def reference(*, x, y, N):
    y.copy_(x > 0)
