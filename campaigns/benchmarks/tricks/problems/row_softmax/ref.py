import torch


def setup(*, N, D, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, D, generator=g, device=device)
    return {"inputs": {"x": x, "y": torch.empty_like(x), "N": N, "D": D}, "outputs": ["y"]}


def reference(*, x, y, N, D):
    y.copy_(torch.softmax(x, dim=1))
