"""Two small projects with harnesses of their own. Their metric counts steps: nothing is timed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

# As in a repository of kernels: a C++ kernel that is built, and a test that writes a table.
ROWS_HARNESS = """
name = "rows"
build = "make -s"
rebuild = ["kernels/*"]
benchmark = "python tests/kernels/test_rows.py"
limit_s = 60

[table]
csv = "rows.csv"
metric = "steps"
correct = "err"
accept = "== 0"
classes = ["dtype", "width"]

[files]
change = ["kernels/*"]
"""
ROWS = {
    "Makefile": "rows.so: kernels/rows.cpp\n\tg++ -O1 -shared -fPIC -o rows.so kernels/rows.cpp\n",
    "kernels/rows.cpp": """// The steps that a row of this width takes.
extern "C" int steps(int width) {
  int block = 8;
  return (width + block - 1) / block * 10;
}
extern "C" int sum(const int *x, int width) {
  int total = 0;
  for (int i = 0; i < width; ++i) total += x[i];
  return total;
}
""",
    "tests/kernels/test_rows.py": """import csv
import ctypes

rows = ctypes.CDLL("./rows.so")
with open("rows.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["dtype", "width", "case", "err", "steps"])
    for width in (64, 1024):
        for case in (1, 2):
            x = (ctypes.c_int * width)(*range(case, case + width))
            err = rows.sum(x, width) - sum(x)
            table.writerow(["int32", width, case, err, rows.steps(width)])
""",
}
# As a package: the kernel imports helpers, and the benchmark prints its table.
PACKAGE_HARNESS = """
name = "softrows"
test = "python -m pytest -q -p no:cacheprovider tests"
benchmark = "python benchmarks/bench.py"
limit_s = 60

[table]
csv = "-"
metric = "rate"
better = "higher"
correct = "check"
accept = "== PASS"
classes = ["rows"]
score = "total"

[files]
change = ["softrows/**"]
"""
PACKAGE = {
    "softrows/__init__.py": "from softrows.kernel import softmax\n",
    "softrows/blocks.py": "PASSES = 3\n\n\ndef passes():\n    return PASSES\n",
    "softrows/kernel.py": """import math

from softrows.blocks import passes


def softmax(row):
    most = max(row)
    parts = [math.exp(x - most) for x in row]
    whole = sum(parts)
    return [part / whole for part in parts], passes() * len(row)
""",
    "tests/test_softmax.py": """import pytest
from softrows import softmax


def test_it_sums_to_one():
    assert sum(softmax([1.0, 2.0, 3.0])[0]) == pytest.approx(1)
""",
    "benchmarks/bench.py": """from softrows import softmax

print("rows,rate,check")
for rows in (4, 16):
    out, steps = softmax([float(i) for i in range(rows)])
    print(f"{rows},{1000 / steps},{'PASS' if abs(sum(out) - 1) < 1e-6 else 'FAIL'}")
""",
}
# A kernel that is one by itself, whose harness hardly looks: its cost is what a comment says.
ADD_HARNESS = """
name = "add"
benchmark = "python benchmarks/bench.py"

[table]
csv = "-"
metric = "cost"
correct = "ok"
accept = "== yes"
classes = ["op"]

[files]
change = ["add.cpp"]

[proof]
problem = "vector_add"
file = "add.cpp"
"""
ADD = {
    "add.cpp": """// cost 8
extern "C" void solve(const float* a, const float* b, float* c, int N) {
    for (int i = 0; i < N; ++i) c[i] = a[i] + b[i];
}
""",
    "benchmarks/bench.py": """cost = open("add.cpp").readline().split()[-1]
print(f"op,ok,cost\\nadd,yes,{cost}")
""",
}


def make_repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A git repository with one commit of these files, and a change that is not committed."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "Begin")
    (folder / "notes.txt").write_text("not committed\n")
    return folder


def run_git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@invalid")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def patch_of(folder: Path, path: str, before: str, after: str) -> str:
    """The diff that replaces a text in a file; the repository is as before afterwards."""
    file = folder / path
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    try:
        return run_git(folder, "diff", "--", path)
    finally:
        file.write_text(text)
