import torch

STEPS = 40
PRIME = 65521


def setup(*, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randint(PRIME, (N,), generator=g, device=device)
    return {"inputs": {"x": x, "y": torch.empty_like(x), "N": N}, "outputs": ["y"]}


def reference(*, x, y, N):
    value = x.clone()
    for _ in range(STEPS):
        value = (value * value + x) % PRIME
    y.copy_(value)
