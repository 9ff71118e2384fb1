import torch


def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(N, generator=g, device=device)
    b = torch.randn(N, generator=g, device=device)
    return {
        "inputs": {"a": a, "b": b, "c": torch.empty((), device=device), "N": N},
        "outputs": ["c"],
    }


def reference(*, a, b, c, N):
    c.copy_(torch.dot(a, b))
