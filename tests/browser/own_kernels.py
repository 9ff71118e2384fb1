"""Kernels that newcomers bring, each with its reference, an example call and what is handed in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Own:
    """name: the problem's. shape: of its first input. old, new: what a candidate changes."""

    name: str
    kernel: str
    reference: str
    call: str
    shape: str
    old: str = ""
    new: str = ""


# The sum of a row is made anew for each of its elements, which no noise can hide.
ROW_NORM = Own(
    "row_norm",
    """#include <cmath>

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      double sum = 0.0;
      for (int i = 0; i < cols; ++i) sum += double(x[r * cols + i]) * x[r * cols + i];
      y[r * cols + c] = float(x[r * cols + c] / (std::sqrt(sum) + 1e-6));
    }
  }
}
""",
    """import torch


def row_norm(x):
    return x / (x.norm(dim=-1, keepdim=True) + 1e-6)
""",
    "row_norm(torch.randn(32, 256))",
    "32 × 256",
    """    for (int c = 0; c < cols; ++c) {
      double sum = 0.0;
      for (int i = 0; i < cols; ++i) sum += double(x[r * cols + i]) * x[r * cols + i];
""",
    """    double sum = 0.0;
    for (int i = 0; i < cols; ++i) sum += double(x[r * cols + i]) * x[r * cols + i];
    for (int c = 0; c < cols; ++c) {
""",
)
RMS_NORM = Own(
    "rms_norm",
    """import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, w_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(y_ptr + row * n_cols + cols, x * scale * w, mask=mask)


def rms_norm(x, weight, eps=1e-6):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    rms_norm_kernel[(x.shape[0],)](x, weight, y, x.shape[1], eps, BLOCK=block)
    return y
""",
    """import torch


def rms_norm_ref(x, weight, eps=1e-6):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype) * weight
""",
    "rms_norm(torch.randn(64, 128, dtype=torch.float16), torch.randn(128, dtype=torch.float16))",
    "64 × 128",
    "    row = tl.program_id(0)\n",
    "    row = tl.program_id(0)  # time 50\n",
)
BIAS_GELU = Own(
    "bias_gelu",
    """__global__ void bias_gelu(const float* x, const float* bias, float* y, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i] + bias[i % cols];
    y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  }
}

extern "C" void solve(const float* x, const float* bias, float* y, int rows, int cols) {
  int n = rows * cols;
  bias_gelu<<<(n + 255) / 256, 256>>>(x, bias, y, n, cols);
}
""",
    """import torch


def bias_gelu(x, bias):
    return torch.nn.functional.gelu(x + bias)
""",
    "bias_gelu(torch.randn(32, 64), torch.randn(64))",
    "32 × 64",
)
