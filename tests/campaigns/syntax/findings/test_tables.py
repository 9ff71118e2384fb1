"""Tables of answers that persist between calls are told apart from other state."""

from __future__ import annotations

import pytest

from campaigns.benchmarks.trick import TRICKS, every
from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.rules.verdict.finding_kinds import Finding, FindingKind
from campaigns.syntax.findings.find import findings_of
from tests.architecture.source_tree import ROOT

SOLVE = 'extern "C" void solve(const float* x, float* y, int N)'
EACH = "for (int i = 0; i < N; ++i)"
AT = "int at = x[i] * 4096;"
CANDIDATES = [trick.path for b in ("cpp", "cuda", "triton") for trick in every(TRICKS, "honest", b)]
CANDIDATES += [each for folder in ("cpp", "cu", "py") for each in SHIPPED.rglob(f"v0.{folder}")]
CANDIDATES += (ROOT / "docs/examples").rglob("kernel.py")

C_TABLES = {
    "a mark": f"static float t[9]; {SOLVE} {{ if (!t[8]) memset(t, 255, 36); {EACH} {{ {AT} "
    "if (t[at] < 0) t[at] = one(at); y[i] = t[at]; } }",
    "a map": f"{SOLVE} {{ static std::unordered_map<float, float> t; {EACH} {{ "
    "auto it = t.find(x[i]); if (it == t.end()) it = t.emplace(x[i], one(x[i])).first; "
    "y[i] = it->second; } }",
    "a reference": f"static Slot t[9]; {SOLVE} {{ {EACH} {{ Slot& slot = t[place(x[i])]; "
    "if (slot.key != x[i]) { slot.key = x[i]; slot.value = one(x[i]); } y[i] = slot.value; } }",
    "a pointer": f"static float* t; {SOLVE} {{ if (!t) t = make(); {EACH} {{ {AT} "
    "float* slot = t + at; if (*slot == 0) *slot = one(at); y[i] = *slot; } }",
    "a part in each call": f"static float t[9]; static int upto; {SOLVE} {{ "
    f"for (int s = 0; s < 3; ++s, ++upto) t[upto] = one(upto); {EACH} {{ {AT} y[i] = t[at]; }} }}",
    "a helper": "static float t[9]; static int place(float v) { return v * 4096; } "
    "static float find(float* t, int at) { if (!t[at]) t[at] = one(at); return t[at]; } "
    f"{SOLVE} {{ {EACH} y[i] = find(t, place(x[i])); }}",
}
C_OTHERS = {
    "counts that are cleared": f"static int n[256]; {SOLVE} {{ memset(n, 0, 1024); "
    f"{EACH} n[(int)x[i]]++; {EACH} y[i] = n[(int)x[i]]; }}",
    "slots that are cleared": f"static std::vector<int> t(99); {SOLVE} {{ "
    f"std::fill(t.begin(), t.end(), -1); {EACH} {{ {AT} if (t[at] < 0) t[at] = i; "
    "y[i] = t[at]; } }",
    "a choice by size": "static std::map<int, int> best; static int tune(const float* x, int n) "
    f"{{ return n > 3; }} {SOLVE} {{ if (!best.count(N)) best[N] = tune(x, N); int tile = best[N]; "
    "for (int i = 0; i < N; i += tile) y[i] = x[i]; }",
    "handles by device": f"static cudaStream_t s[9]; static int blocks[9]; {SOLVE} {{ int d; "
    "cudaGetDevice(&d); if (!s[d]) cudaStreamCreate(&s[d]); if (!blocks[d]) blocks[d] = 132; "
    "copy<<<blocks[d], 256, 0, s[d]>>>(x, y, N); }",
    "a workspace that is gathered from": f"static float w[99]; {SOLVE} {{ {EACH} w[i] = x[i] * 2; "
    f"{EACH} {{ {AT} y[i] = w[at]; }} }}",
}
PYTHON_TABLE = """
import torch
t = torch.full((65_537,), float("nan"))
def run_kernel(x, y, N):
    at = ((x + 8) * 4096).long()
    new = at[torch.isnan(t[at])]
    {write}
    y.copy_(torch.lerp(t[at], t[at + 1], 0.5))
"""
PYTHON_OTHER = """
import torch, triton
import triton.language as tl
best, scratch, streams = {}, {}, []
@triton.jit
def store(x_ptr, w_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(w_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
@triton.jit
def gather(w_ptr, index_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.load(w_ptr + index, mask=at < n), mask=at < n)
def plan(rows, dtype):
    key = (rows, dtype)
    found = best.get(key)
    if found is None:
        found = best[key] = min((32, 64), key=lambda b: store[(1,)](x, x, rows, BLOCK=b))
    return found
def run_kernel(x, index, y, n):
    if not streams:
        streams.append(torch.cuda.Stream())
    w = scratch.setdefault((n, x.device), torch.empty(n, device=x.device))
    store[(triton.cdiv(n, 64),)](x.contiguous(), w, n, BLOCK=plan(n, x.dtype))
    gather[(triton.cdiv(n, 64),)](w, index, y, n, BLOCK=64)
"""


def tables(name: str, text: str) -> list[Finding]:
    found = findings_of(Source(name, text, ()))
    return [each for each in found if each.kind is FindingKind.ANSWER_TABLE]


@pytest.mark.parametrize("path", CANDIDATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_it_asks_nobody_about_an_honest_candidate(path):
    assert tables(path.name, path.read_text()) == []


@pytest.mark.parametrize("backend", ["cpp", "cuda", "triton"])
def test_it_names_the_table_that_a_trick_fills_over_many_calls(backend):
    trick = next(t for t in every(TRICKS, "cheats", backend) if "table_of" in t.name)
    found = tables(trick.path.name, trick.source.text)[0]
    assert found.what.endswith("keeps answers from call to call")
    assert found.quote in (
        "static float answers[65537];",
        "static float* answers;",
        "tables = {}",
    )


@pytest.mark.parametrize("text", C_TABLES.values(), ids=C_TABLES)
def test_it_finds_a_table_by(text):
    assert [found.what.split()[0] for found in tables("a.cu", text)] == ["t"]


@pytest.mark.parametrize("text", C_OTHERS.values(), ids=C_OTHERS)
def test_it_lets_be(text):
    assert tables("a.cu", text) == []


@pytest.mark.parametrize(
    ("write", "count"),
    [
        ("t[new] = torch.tanh(new / 4096 - 8)", 1),
        ("t.index_put_((new,), torch.tanh(new / 4096 - 8))", 1),
        ("t.copy_(x)", 0),
    ],
)
def test_it_finds_a_table_that_torch_fills(write, count):
    assert len(tables("a.py", PYTHON_TABLE.format(write=write))) == count


def test_it_lets_workspaces_streams_and_choices_by_size_be_in_python():
    assert tables("a.py", PYTHON_OTHER) == []
