"""What is worth a reviewer's look in a C++ or CUDA candidate, and what is not."""

from __future__ import annotations

import pytest

from campaigns.rules.verdict.finding_kinds import FindingKind
from campaigns.syntax.findings.c_source import find_in_c

HONEST = """
#include <cmath>
#include <vector>

constexpr int LANES = 8;  // a thread, a cache, fork(): words in a comment are no finding
static const float table[2] = {1.0f, 2.0f};

static inline float scale(float value) { return value * table[1]; }

extern "C" void solve(const float* x, float* y, int N) {
  std::vector<float> work(N);
  #pragma omp parallel for
  for (int i = 0; i < N; ++i) y[i] = scale(x[i]);
}
"""


def kinds(body: str, before: str = "") -> list[FindingKind]:
    text = f'{before}\nextern "C" void solve(const float* x, float* y, int N) {{\n{body}\n}}\n'
    return [found.kind for found in find_in_c(text, cuda=True)]


@pytest.mark.parametrize("cuda", [False, True])
def test_it_finds_nothing_in_a_plain_kernel(cuda):
    assert find_in_c(HONEST, cuda=cuda) == ()


@pytest.mark.parametrize(
    ("body", "before", "kind"),
    [
        ("static int calls = 0; ++calls;", "", FindingKind.CACHE),
        ("y[0] = kept;", "static float kept;", FindingKind.CACHE),
        ("y[0] = kept;", "float kept = 0;", FindingKind.CACHE),
        ("", "__device__ float kept;", FindingKind.CACHE),
        ("thread_local float last = 0; y[0] = last;", "", FindingKind.CACHE),
        ("static std::map<const float*, float> seen;", "", FindingKind.IDENTITY_KEY),
        ("auto key = (uintptr_t)x;", "", FindingKind.IDENTITY_KEY),
        ("std::thread t([] {}); t.detach();", "", FindingKind.THREAD),
        ("cudaLaunchHostFunc(0, f, 0);", "", FindingKind.THREAD),
        ("cudaStream_t s; cudaStreamCreate(&s);", "", FindingKind.STREAM),
        ("fork();", "", FindingKind.PROCESS),
        ("if (N < 0) exit(1);", "", FindingKind.EXIT),
        ("int fork = 0; { ::fork(); fork(); }", "", FindingKind.PROCESS),
        ("signal(11, handler);", "", FindingKind.FALLBACK),
        ("try { f(); } catch (...) { }", "", FindingKind.FALLBACK),
        ("auto f = dlsym(0, name);", "", FindingKind.HIDDEN_CODE),
        ("", '#include "/etc/passwd"', FindingKind.HIDDEN_CODE),
        ("", '#include "../../secret.h"', FindingKind.HIDDEN_CODE),
        ("", "#define CALL(a, b) a##b()", FindingKind.HIDDEN_CODE),
        ('asm(".incbin \\"/etc/passwd\\"");', "", FindingKind.HIDDEN_CODE),
        ("auto t = std::chrono::steady_clock::now();", "", FindingKind.DETECTION),
        ("", "__attribute__((constructor)) void early() { }", FindingKind.DETECTION),
        ("cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1);", "", FindingKind.GLOBAL_STATE),
        ("cublasSgemm();", "", FindingKind.LIBRARY),
        ("fopen(name, mode);", "", FindingKind.NATIVE_ACCESS),
    ],
)
def test_it_finds(body, before, kind):
    assert kind in kinds(body, before)


def test_it_finds_things_in_a_text_that_does_not_parse():
    assert FindingKind.PROCESS in [f.kind for f in find_in_c("void f( { fork(); ", cuda=False)]


def test_it_says_where_and_what():
    (found,) = find_in_c("int f() {\n  return fork();\n}\n", cuda=False)
    assert (found.line, found.what, found.quote) == (2, "fork", "return fork();")


def test_it_leaves_names_that_the_candidate_gave_its_own_variables():
    body = "float system = x[0]; int clone = 1, *kill = &clone; y[0] = system + clone + *kill;"
    assert kinds(body) == []
    assert kinds("y[0] = connect;", "static float connect(int n);") == [FindingKind.PROCESS] * 2
    assert kinds("int fork = 0; ::fork();") == [FindingKind.PROCESS]


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("y[0] = raise(x[0], 2);", "static float raise(float x, int n) { return x * n; }"),
        ("V a; a = a.clone();", "struct V { V clone() const { return *this; } };"),
        ("auto kill = [&](int i) { y[i] = 0; }; kill(N);", ""),
    ],
)
def test_it_leaves_functions_that_the_candidate_wrote(body, before):
    assert kinds(body, before) == []
