"""The largest values of a row, the plain way: one program per row finds one after the other."""

import triton
import triton.language as tl


@triton.jit
def largest_of_rows(scores_ptr, values_ptr, indices_ptr, E, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    scores = tl.load(scores_ptr + row * E + columns, mask=columns < E, other=-float("inf"))
    for k in range(K):
        # Argmax names the first of equal scores.
        place = tl.argmax(scores, axis=0)
        tl.store(values_ptr + row * K + k, tl.max(scores, axis=0))
        tl.store(indices_ptr + row * K + k, place)
        scores = tl.where(columns == place, -float("inf"), scores)


def run_kernel(scores, values, indices, N, E, K):
    largest_of_rows[(N,)](scores, values, indices, E, K, BLOCK=triton.next_power_of_2(E))
