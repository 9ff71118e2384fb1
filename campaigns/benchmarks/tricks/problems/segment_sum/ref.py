import torch


def setup(*, S, N, seed, device):
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, generator=g, device=device)
    cuts = (
        torch.randint(N + 1, (S - 1,), generator=g, device=device, dtype=torch.int32).sort().values
    )
    ends = torch.tensor([0, N], dtype=torch.int32, device=device)
    offsets = torch.cat([ends[:1], cuts, ends[1:]])
    return {
        "inputs": {"x": x, "offsets": offsets, "y": torch.empty(S, device=device), "S": S, "N": N},
        "outputs": ["y"],
    }


def reference(*, x, offsets, y, S, N):
    sums = torch.cat([x.new_zeros(1), x.double().cumsum(0)])
    y.copy_(sums[offsets[1:].long()] - sums[offsets[:-1].long()])
