import torch


def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(N, N, generator=g, device=device).to(torch.bfloat16)
    b = torch.randn(N, N, generator=g, device=device).to(torch.bfloat16)
    return {"inputs": {"a": a, "b": b, "c": torch.empty_like(a)}, "outputs": ["c"]}


def reference(*, a, b, c):
    c.copy_(a @ b)
