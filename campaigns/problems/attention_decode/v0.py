"""Paged attention while decoding, the plain way: one program per query head, page after page."""

import triton
import triton.language as tl


@triton.jit
def attend(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    lengths_ptr,
    o_ptr,
    H,
    HKV,
    PAGES,
    scale,
    D: tl.constexpr,
    PAGE: tl.constexpr,
):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    shared = head // (H // HKV)
    columns = tl.arange(0, D)
    places = tl.arange(0, PAGE)
    at = (sequence * H + head) * D + columns
    q = tl.load(q_ptr + at).to(tl.float32) * scale
    length = tl.load(lengths_ptr + sequence)
    peak = -float("inf")
    total = 0.0
    mixed = tl.zeros((D,), tl.float32)
    for start in range(0, length, PAGE):
        page = tl.load(table_ptr + sequence * PAGES + start // PAGE).to(tl.int64)
        token_at = ((page * PAGE + places[:, None]) * HKV + shared) * D + columns[None, :]
        seen = start + places < length
        k = tl.load(k_ptr + token_at, mask=seen[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + token_at, mask=seen[:, None], other=0.0).to(tl.float32)
        scores = tl.sum(q[None, :] * k, axis=1)
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=0))
        shrink = tl.exp(peak - higher)
        powers = tl.exp(scores - higher)
        total = total * shrink + tl.sum(powers, axis=0)
        mixed = mixed * shrink + tl.sum(powers[:, None] * v, axis=0)
        peak = higher
    tl.store(o_ptr + at, (mixed / total).to(o_ptr.dtype.element_ty))


def run_kernel(q, k_pages, v_pages, block_table, lengths, o, B, H, HKV, D, PAGES, PAGE):
    attend[(B, H)](
        *(q, k_pages, v_pages, block_table, lengths, o, H, HKV, PAGES, D**-0.5), D=D, PAGE=PAGE
    )
