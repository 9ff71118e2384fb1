import torch


def setup(*, N, B, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randint(B, (N,), generator=g, device=device, dtype=torch.int32)
    y = torch.empty(B, dtype=torch.int32, device=device)
    return {"inputs": {"x": x, "y": y, "N": N, "B": B}, "outputs": ["y"]}


def reference(*, x, y, N, B):
    y.copy_(torch.bincount(x.remainder(B), minlength=B))
