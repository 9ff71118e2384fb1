import torch


def setup(*, H, W, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randint(256, (H, W), generator=g, device=device, dtype=torch.uint8)
    return {"inputs": {"x": x, "y": torch.empty_like(x), "H": H, "W": W}, "outputs": ["y"]}


def reference(*, x, y, H, W):
    padded = torch.nn.functional.pad(x.float()[None], (1, 1, 1, 1), mode="replicate")[0]
    total = sum(padded[i : i + H, j : j + W] for i in range(3) for j in range(3))
    y.copy_((total / 9).round().clamp(0, 255))
