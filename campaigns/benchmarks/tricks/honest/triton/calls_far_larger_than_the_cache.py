# trick: one pass over 352 MB a call where torch makes two
# problem: silu_mul M=4096 N=14336
# outcome: passed
# against: v0.py
# on: gpu
# calls: 64
# burst_ms: 5
import triton
import triton.language as tl


@triton.jit
def fused_mul_silu(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < xnumel
    gate = tl.load(in_ptr0 + xindex, xmask).to(tl.float32)
    up = tl.load(in_ptr1 + xindex, xmask).to(tl.float32)
    act = gate / (1.0 + tl.exp(-gate))
    tl.store(out_ptr0 + xindex, act.to(tl.bfloat16).to(tl.float32) * up, xmask)


def run_kernel(gate, up, out):
    n = gate.numel()
    fused_mul_silu[(triton.cdiv(n, 1024),)](gate, up, out, n, XBLOCK=1024, num_warps=4)
