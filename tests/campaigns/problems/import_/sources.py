"""Kernels and references as people have them."""

TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, w_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, x * w, mask=mask)


def scaled(x, weight, bias=None, factor=2.0):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    scale_rows[(x.shape[0],)](x, weight, y, x.shape[1], BLOCK=block)
    return y


def scaled_ref(x, weight, bias=None, factor=2.0):
    return x * weight


def test_it():
    rows, cols = 64, 128
    kind = torch.float16
    x = torch.randn(rows, cols, device="cuda", dtype=kind) * 0.5
    weight = torch.ones(cols, device="cuda", dtype=kind)
    torch.testing.assert_close(scaled(x, weight), scaled_ref(x, weight))
"""

CUDA = """
__global__ void add(const float* x, const float* b, float* y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * c) y[i] = x[i] + b[i % c];
}
extern "C" void solve(const float* values, const float* bias, float* y, int rows, int cols) {
  add<<<(rows * cols + 255) / 256, 256>>>(values, bias, y, rows, cols);
}
"""

ADD_BIAS = """
import torch


def add_bias(x, bias):
    return x + bias
"""

CPP = """
extern "C" void solve(const float* x, float* out, int N, int D) {
  for (int i = 0; i < N * D; ++i) out[i] = x[i] < 0 ? 0 : x[i];
}
"""

RELU = """
import torch


class Relu(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
