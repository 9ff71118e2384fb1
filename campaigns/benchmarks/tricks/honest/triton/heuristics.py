# trick: autotuned with heuristics, pruned configurations and a key of two sizes
# problem: row_sum N=4 D=200
# outcome: passed
import triton
import triton.language as tl


def prune(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= 2 * named_args["D"]] or configs[:1]


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (32, 64, 512) for w in (1, 2)],
    key=["N", "D"],
    prune_configs_by={"early_config_prune": prune},
    reset_to_zero=["y_ptr"],
)
@triton.heuristics({"EVEN": lambda args: args["D"] % args["BLOCK"] == 0})
@triton.jit
def sums(x_ptr, y_ptr, N, D, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, D, BLOCK):
        at = start + tl.arange(0, BLOCK)
        if EVEN:
            total += tl.load(x_ptr + row * D + at)
        else:
            total += tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(total, axis=0))


def run_kernel(x, y, N, D):
    y.zero_()
    sums[lambda meta: (N,)](x, y, N, D)
