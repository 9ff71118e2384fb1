import torch


def setup(*, N, M, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(M, generator=g, device=device)
    at = torch.randint(M, (N,), generator=g, device=device, dtype=torch.int32)
    y = torch.empty(N, device=device)
    return {"inputs": {"x": x, "at": at, "y": y, "N": N, "M": M}, "outputs": ["y"]}


def reference(*, x, at, y, N, M):
    y.copy_(x[at.long()])
