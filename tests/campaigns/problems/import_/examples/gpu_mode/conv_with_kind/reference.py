import torch
from task import input_t, output_t


def ref_kernel(data: input_t) -> output_t:
    x, weight, shift = data
    return torch.nn.functional.conv2d(x, weight) + shift


def generate_input(size: int, kind: str, bias: bool, seed: int) -> input_t:
    random = torch.Generator(device="cuda")
    random.manual_seed(seed)
    side = 5 if kind == "wide" else 3
    x = torch.randn(1, 2, size, size, device="cuda", generator=random)
    weight = torch.randn(3, 2, side, side, device="cuda", generator=random)
    return x, weight, 0.5 if bias else 0.0
