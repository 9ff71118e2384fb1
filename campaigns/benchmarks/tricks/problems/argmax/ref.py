import torch


def setup(*, N, D, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.rand(N, D, generator=g, device=device)
    x[torch.arange(N), torch.randint(D - 99, D, (N,), generator=g, device=device)] = 2.0
    y = torch.empty(N, dtype=torch.int64, device=device)
    return {"inputs": {"x": x, "y": y, "N": N, "D": D}, "outputs": ["y"]}


def reference(*, x, y, N, D):
    first = torch.arange(D, device=x.device).expand(N, D)
    top = x.max(dim=1, keepdim=True).values
    y.copy_(torch.where(x == top, first, D).min(dim=1).values)
