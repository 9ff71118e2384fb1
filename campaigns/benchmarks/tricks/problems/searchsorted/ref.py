import torch


def setup(*, M, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    keys = torch.rand(M, generator=g, device=device).sort().values
    x = torch.rand(N, generator=g, device=device)
    y = torch.empty(N, dtype=torch.int64, device=device)
    return {"inputs": {"keys": keys, "x": x, "y": y, "M": M, "N": N}, "outputs": ["y"]}


def reference(*, keys, x, y, M, N):
    y.copy_(torch.searchsorted(keys, x))
