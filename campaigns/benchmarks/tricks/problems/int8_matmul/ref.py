import torch


def setup(*, M, K, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    a = torch.randint(-128, 128, (M, K), generator=g, device=device, dtype=torch.int8)
    b = torch.randint(-128, 128, (N, K), generator=g, device=device, dtype=torch.int8)
    c = torch.empty(M, N, dtype=torch.int32, device=device)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "K": K, "N": N}, "outputs": ["c"]}


def reference(*, a, b, c, M, K, N):
    c.copy_((a.double() @ b.double().t()).round())
