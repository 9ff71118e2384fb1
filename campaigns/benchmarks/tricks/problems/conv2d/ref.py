import torch


def setup(*, C, F, S, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(1, C, S, S, generator=g, device=device)
    w = torch.randn(F, C, 3, 3, generator=g, device=device)
    b = torch.randn(F, generator=g, device=device)
    y = torch.empty(1, F, S, S, device=device)
    return {"inputs": {"x": x, "w": w, "b": b, "y": y, "C": C, "F": F, "S": S}, "outputs": ["y"]}


def reference(*, x, w, b, y, C, F, S):
    y.copy_(torch.nn.functional.conv2d(x, w, b, padding=1))
