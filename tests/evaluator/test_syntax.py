"""Texts that are made to take long, of which a stranger may send any number."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import tree_sitter_cpp
from tree_sitter import Language

from campaigns.evaluator.builds.kernel_names import cuda_kernels
from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract import signature as syntax
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.signature import read_parameters
from campaigns.syntax.c_family import parse
from campaigns.syntax.findings.find import findings_of

# tree-sitter takes over a minute for it.
SLOW = "/* " * 7000
LENGTH = 400_000


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(syntax, "MOST_S", 0.5)


def test_it_gives_up_on_a_text_that_parses_slowly():
    begun = time.thread_time()
    with pytest.raises(BuildFailed, match=r"k\.cpp: the text does not parse within 0\.5 s"):
        read_parameters(SLOW, "k.cpp")
    for name in ("k.cpp", "k.cu"):
        (finding,) = findings_of(Source(name, SLOW))
        assert "does not parse within" in finding.what
    assert parse(SLOW) is None
    assert time.thread_time() - begun < 10


def test_it_parses_what_is_long_and_honest():
    language = Language(tree_sitter_cpp.language())
    text = "float at(const float* x, int i) { return x[i]; } // reads ü\n" * 500
    root = syntax.parse_within(language, text)
    assert not root.has_error
    assert root.text == text.encode()
    assert root.named_child_count == 1000


AT_ONCE = """
import threading
from campaigns.syntax.c_family import parse

text = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = 0; }" * 50
threads = [threading.Thread(target=lambda: [parse(text) for _ in range(20)]) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
"""


def test_threads_that_parse_at_once_do_not_end_their_process():
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "piece",
    [
        *("/* ", '"\\', "'\\", '"a', "__global__ ", "__global__ f(", "__global__ a b(", "("),
        *("#define x ", "\n#define x ", "# define\t", "__global__ f" + "(" * 1000, "//", "*"),
    ],
)
def test_it_reads_names_of_kernels_from_anything(piece):
    begun = time.thread_time()
    cuda_kernels(piece * (LENGTH // len(piece)))
    assert time.thread_time() - begun < 5


def test_it_reads_names_of_kernels_with_as_many_marks_as_there_are_lines():
    text = "".join(f"#define M{n} __global__\nM{n} void k{n}() {{}}\n" for n in range(8000))
    begun = time.thread_time()
    assert len(cuda_kernels(text)) == 8000
    assert time.thread_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int n = 1'000; __global__ void k() {} int m = 2'000;", ("k",)),
        ("char c = '\"'; __global__ void k() {}", ("k",)),
        ("char c = '\\''; __global__ void k() {} // \"", ("k",)),
        ('const char* s = R"(\n"unbalanced)";\n__global__ void k() {}', ("k",)),
        ("__global__ void k() {} /* __global__ void l() {}", ("k",)),
        ("__global__ __launch_bounds__(f(1), 2) void k(int (*a)[2]) {}", ("k",)),
        ("  #define G __global__ static\nG void k() {}", ("k",)),
    ],
)
def test_it_reads_names_of_kernels_beside_what_only_looks_like_an_end(text, names):
    assert cuda_kernels(text) == names
