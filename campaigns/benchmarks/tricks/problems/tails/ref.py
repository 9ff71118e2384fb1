import torch


def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=g, device=device)
    return {"inputs": {"x": x, "y": torch.empty_like(x), "N": N}, "outputs": ["y"]}


def reference(*, x, y, N):
    y.copy_(torch.where(x > 1.5, x, torch.zeros_like(x)))
