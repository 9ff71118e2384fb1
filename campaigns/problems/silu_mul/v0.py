"""SiLU times another tensor, the plain way: one program per short block of values."""

import triton
import triton.language as tl


@triton.jit
def silu_times(gate_ptr, up_ptr, output_ptr, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    gate = tl.load(gate_ptr + places, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + places, mask=inside, other=0.0).to(tl.float32)
    product = gate / (1.0 + tl.exp(-gate)) * up
    tl.store(output_ptr + places, product.to(tl.bfloat16), mask=inside)


def run_kernel(gate, up, output, N, D):
    block = 256
    silu_times[(triton.cdiv(N * D, block),)](gate, up, output, N * D, BLOCK=block)
