"""What is worth a reviewer's look in a Python candidate, and what is not."""

from __future__ import annotations

import pytest

from campaigns.rules.verdict.finding_kinds import FindingKind
from campaigns.syntax.findings.python_source import find_in_python

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * D + at, mask=at < D, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * D + at, value / tl.sum(value, 0), mask=at < D)


def run_kernel(x, y, N, D):
    # id(x), data_ptr(), subprocess: words in a comment are no finding
    softmax[(N,)](x, y, D, BLOCK=triton.next_power_of_2(D))
"""


def kinds(body: str, before: str = "") -> list[FindingKind]:
    text = f"{before}\ndef run_kernel(x, y, N):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    return [found.kind for found in find_in_python(text)]


def test_it_finds_nothing_in_a_plain_kernel():
    assert find_in_python(KERNEL) == ()


@pytest.mark.parametrize(
    ("body", "before", "kind"),
    [
        ("k = id(x)", "", FindingKind.IDENTITY_KEY),
        ("k = x.data_ptr()", "", FindingKind.IDENTITY_KEY),
        ("k = x._version", "", FindingKind.IDENTITY_KEY),
        ("seen[N] = y", "seen = {}", FindingKind.CACHE),
        ("seen.append(y)", "seen = []", FindingKind.CACHE),
        ("global calls\ncalls += 1", "calls = 0", FindingKind.CACHE),
        (
            "pass",
            "import functools\n@functools.lru_cache\ndef table(n):\n    return n",
            FindingKind.CACHE,
        ),
        ("s = torch.cuda.Stream()", "import torch", FindingKind.STREAM),
        ("t = th.Thread(target=f)", "import threading as th", FindingKind.THREAD),
        ("pass", "from concurrent.futures import ThreadPoolExecutor", FindingKind.THREAD),
        ("c.memmove(1, 2, 3)", "import ctypes as c", FindingKind.NATIVE_ACCESS),
        ("fork()", "from os import fork", FindingKind.PROCESS),
        ("sp.run(['ls'])", "import subprocess as sp", FindingKind.PROCESS),
        ("torch.matmul(x, x, out=y)", "import torch", FindingKind.LIBRARY),
        ("z = x @ x", "", FindingKind.LIBRARY),
        ("np.add(x, x, out=z)", "import numpy as np", FindingKind.LIBRARY),
        ("z[:] = x.numpy()", "", FindingKind.LIBRARY),
        ("y.copy_(x.softmax(1))", "", FindingKind.LIBRARY),
        ("f = sys._getframe(1)", "import sys", FindingKind.DETECTION),
        ("now = time.perf_counter()", "import time", FindingKind.DETECTION),
        ("try:\n    f()\nexcept Exception:\n    g()", "", FindingKind.FALLBACK),
        ("try:\n    f()\nexcept:\n    pass", "", FindingKind.FALLBACK),
        ("torch.allclose = lambda *a: True", "import torch", FindingKind.PATCHING),
        ("setattr(torch, 'randn', torch.zeros)", "import torch", FindingKind.PATCHING),
        ("torch.manual_seed(0)", "import torch", FindingKind.GLOBAL_STATE),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "import torch", FindingKind.GLOBAL_STATE),
        (
            "host.Plan.call = f",
            "from campaigns.evaluator.runner import host_plan as host",
            FindingKind.PATCHING,
        ),
        ("torch.__dict__['randn'] = f", "import torch", FindingKind.PATCHING),
        ("sys.modules['time'] = f", "import sys", FindingKind.PATCHING),
        ("object.__setattr__(torch, 'randn', f)", "import torch", FindingKind.PATCHING),
        ("triton.knobs.autotuning.print = True", "import triton", FindingKind.GLOBAL_STATE),
        ("os.environ['OMP_NUM_THREADS'] = '1'", "import os", FindingKind.GLOBAL_STATE),
        ("run(x, 1)", "import torch\nrun = torch.softmax", FindingKind.LIBRARY),
        ("run = functools.partial(torch.mm, x)", "import functools, torch", FindingKind.LIBRARY),
        ("getattr(torch, 'mm')(x, x)", "import torch", FindingKind.LIBRARY),
        ("run_kernel.seen[N] = y", "", FindingKind.CACHE),
        ("def inner(n, seen={}):\n    return seen", "", FindingKind.CACHE),
        ("x.answer = y", "", FindingKind.CACHE),
        ("pass", "import weakref", FindingKind.CACHE),
        ("pass", "def jit(f):\n    return f\n@jit\ndef f():\n    import pty", FindingKind.PROCESS),
        ("pass", "import triton\n@triton.jit\ndef k(x):\n    import pty", FindingKind.PROCESS),
        ("exec(text)", "", FindingKind.HIDDEN_CODE),
        ("pass", "from torch.utils.cpp_extension import load_inline", FindingKind.HIDDEN_CODE),
        ("y.set_(x)", "", FindingKind.LAZY_OUTPUT),
        ("y.data = x", "", FindingKind.LAZY_OUTPUT),
        ("pass", "import torch\nclass Lazy(torch.Tensor):\n    pass", FindingKind.LAZY_OUTPUT),
    ],
)
def test_it_finds(body, before, kind):
    assert kind in kinds(body, before)


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    f()\nexcept Exception:\n    raise ValueError(N)",
        "try:\n    f()\nexcept ImportError:\n    g()",
        "table = {}\ntable[N] = 1",
        "best = max(1, N)\nidea = best",
        "work = y.view(N)",
        "signal = y\nsignal.numel()",
        "from triton import jit as kernel\n@kernel\ndef k(a):\n    return a.sum()",
        "class Work:\n    def __init__(self, n):\n        self.data = n",
        "def hash(value):\n    return value\nhash(N)",
    ],
)
def test_it_lets_ordinary_code_be(body):
    assert kinds(body) == []


@pytest.mark.parametrize(
    ("body", "before", "kind"),
    [
        ("f = lru_cache(maxsize=None)(g)", "from functools import lru_cache", FindingKind.CACHE),
        ("f = functools.cache(g)", "import functools", FindingKind.CACHE),
        ("g = torch.cuda.CUDAGraph()", "import torch", FindingKind.STREAM),
        ("with torch.cuda.graph(g):\n    f(x)", "import torch", FindingKind.STREAM),
        ("pass", "from torch.cuda import make_graphed_callables", FindingKind.STREAM),
    ],
)
def test_r20_it_finds_caches_made_by_a_call_and_captured_graphs(body, before, kind):
    assert kinds(body, before) == [kind]


def test_it_says_where_and_what():
    found = find_in_python("import os\n\ndef run_kernel(x, y):\n    os.kill(1, 9)\n")
    assert [(f.line, f.kind, f.what, f.quote) for f in found] == [
        (4, FindingKind.PROCESS, "os.kill()", "os.kill(1, 9)")
    ]


@pytest.mark.parametrize("text", ["def f(:\n", "\x00", "(" * 5000])
def test_it_takes_a_text_that_does_not_parse(text):
    assert find_in_python(text) == ()
