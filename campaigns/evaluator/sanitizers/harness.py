"""The program around a candidate that a sanitizer watches: C++ text for one case's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from campaigns.evaluator.builds.shared_object import NAMES
from campaigns.evaluator.contract.layout import Layout, TensorArg

INPUTS, OUTPUTS = "case.bin", "outputs.bin"
# Pipes to a profiler of the CPU, where it has made them: what it is told, and that it has heard.
TELL, HEARD = "tell", "heard"
CALLS = 3
# Slow ones are called less often: no further call is begun after this long.
ENOUGH_S = 10
# The widest that a problem may promise its candidates.
ALIGN = 256
# What it exits with when something of its own goes wrong.
TROUBLE = 3

_HOST_MEMORY = """
static char *reserve(size_t bytes) {
  void *at = nullptr;
  if (posix_memalign(&at, ALIGN, bytes)) trouble("out of memory");
  return static_cast<char *>(at);
}
static void fill(char *at, const char *from, size_t bytes) { memcpy(at, from, bytes); }
static void fetch(char *into, const char *from, size_t bytes) { memcpy(into, from, bytes); }
static void release(char *at) { free(at); }
static void finish() {}
static void counting(bool on) {
  static const int tell = open(TELL, O_WRONLY | O_NONBLOCK), heard = open(HEARD, O_RDONLY);
  if (tell < 0 || heard < 0) return;
  const char *said = on ? "enable\\n" : "disable\\n";
  char answer;
  if (write(tell, said, strlen(said)) < 0) trouble("the profiler does not listen");
  // It answers with a line.
  while (read(heard, &answer, 1) == 1 && answer != '\\n') {}
}
"""
_DEVICE_MEMORY = """
static void need(cudaError_t error) {
  if (error != cudaSuccess) trouble(cudaGetErrorString(error));
}
static char *reserve(size_t bytes) {
  void *at = nullptr;
  need(cudaMalloc(&at, bytes));
  return static_cast<char *>(at);
}
static void fill(char *at, const char *from, size_t bytes) {
  need(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice));
}
static void fetch(char *into, const char *from, size_t bytes) {
  need(cudaMemcpy(into, from, bytes, cudaMemcpyDeviceToHost));
}
static void release(char *at) { need(cudaFree(at)); }
static void finish() { need(cudaDeviceSynchronize()); }
static void counting(bool on) { need(on ? cudaProfilerStart() : cudaProfilerStop()); }
"""
# Left by _exit: a candidate's own threads may still wait for work, and nothing of it is undone.
_TEMPLATE = """
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
{includes}
extern "C" void solve({types});
#ifndef KOPT_CALLS
#define KOPT_CALLS {calls}
#endif
static constexpr size_t ALIGN = {align};
static const char *const TELL = "{tell}", *const HEARD = "{heard}";
static void trouble(const char *what) {{
  fprintf(stderr, "harness: %s\\n", what);
  _exit({trouble});
}}
{memory}
static const size_t SIZES[] = {{ {sizes} }};
static const bool IS_OUTPUT[] = {{ {outputs} }};
static constexpr int COUNT = {count};
int main() {{
  char *given[COUNT], *at[COUNT];
  FILE *file = fopen("{inputs_file}", "rb");
  if (!file) trouble("no inputs");
  for (int i = 0; i < COUNT; ++i) {{
    given[i] = static_cast<char *>(malloc(SIZES[i]));
    if (!given[i] || fread(given[i], 1, SIZES[i], file) != SIZES[i]) trouble("inputs cut short");
  }}
  fclose(file);
  time_t begun = time(nullptr);
  for (int call = 0; call < KOPT_CALLS; ++call) {{
    if (call && time(nullptr) - begun >= {enough_s}) break;
    for (int i = 0; i < COUNT; ++i) {{
      at[i] = reserve(SIZES[i]);
      fill(at[i], given[i], SIZES[i]);
    }}
    finish();
    // A profiler that waits to be told counts from the second call on.
    if (call) counting(true);
    solve({arguments});
    finish();
    if (call) counting(false);
    FILE *out = fopen("{outputs_file}", "wb");
    if (!out) trouble("no place for outputs");
    for (int i = 0; i < COUNT; ++i) {{
      if (IS_OUTPUT[i]) {{
        char *copy = static_cast<char *>(malloc(SIZES[i]));
        if (!copy) trouble("out of memory");
        fetch(copy, at[i], SIZES[i]);
        fwrite(copy, 1, SIZES[i], out);
        free(copy);
      }}
      release(at[i]);
    }}
    fclose(out);
  }}
  _exit(0);
}}
"""


def program(layout: Layout, types: Sequence[Any], *, on_gpu: bool) -> str:
    """The text of the harness; types: the ctypes of `solve`'s parameters, in order."""
    tensors = layout.tensors
    places = {tensor.name: i for i, tensor in enumerate(tensors)}
    arguments = [
        f"at[{places[arg.name]}]" if isinstance(arg, TensorArg) else _literal(arg.value)
        for arg in layout.args
    ]
    return _TEMPLATE.format(
        includes="#include <cuda_profiler_api.h>\n#include <cuda_runtime.h>" if on_gpu else "",
        memory=_DEVICE_MEMORY if on_gpu else _HOST_MEMORY,
        types=", ".join(NAMES[kind] for kind in types),
        sizes=", ".join(str(tensor.nbytes) for tensor in tensors),
        outputs=", ".join(str(tensor.output).lower() for tensor in tensors),
        arguments=", ".join(arguments),
        count=len(tensors),
        align=ALIGN,
        trouble=TROUBLE,
        calls=CALLS,
        enough_s=ENOUGH_S,
        inputs_file=INPUTS,
        outputs_file=OUTPUTS,
        tell=TELL,
        heard=HEARD,
    )


def _literal(value: int | float) -> str:
    """A number as C++ writes it, exactly."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value.hex()
        return "NAN" if math.isnan(value) else f"{'-' if value < 0 else ''}INFINITY"
    # The least 64-bit number has no literal of its own.
    return f"({value + 1}L - 1)" if value < 0 else f"{int(value)}L"
