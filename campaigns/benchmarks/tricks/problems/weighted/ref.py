import torch

STEPS = 40


def setup(*, N, D, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, D, generator=g, device=device)
    w = torch.randn(D, generator=g, device=device)
    inputs = {"x": x, "w": w, "y": torch.empty_like(x), "N": N, "D": D}
    return {"inputs": inputs, "outputs": ["y"]}


def reference(*, x, w, y, N, D):
    value = w.clone()
    for _ in range(STEPS):
        value = 0.75 * value + 0.25 * w / (1 + value * value)
    y.copy_(x * value)
