"""The bench that an exported trail brings along, run as its users run it."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from django.conf import settings

from campaigns.evaluator.backends import cuda
from campaigns.evaluator.contract import programs
from campaigns.models import Candidate
from campaigns.trails.exporters.archive import FORMATS, reproducer_files
from campaigns.trails.exporters.judged_rounds import trail_of
from campaigns.trails.exporters.standalone.quick_test_bench import (
    COMPILERS,
    called_with_all,
    load,
    parser,
    row_of,
    type_of,
    types_of,
)
from campaigns.trails.exporters.workspace import BENCH
from tests.campaigns.sample import build_sample

SOFTMAX = settings.BASE_DIR / "campaigns" / "problems" / "softmax"
CASES = {"63x129": {"N": 63, "D": 129}, "8x1000": {"N": 8, "D": 1000}}


@pytest.fixture
def folder(tmp_path):
    """What `campaign export` writes, as far as the bench reads it."""
    shutil.copytree(SOFTMAX, tmp_path / "problem")
    (tmp_path / BENCH.name).write_text(BENCH.read_text())
    wrong = (tmp_path / "problem" / "v0.cpp").read_text().replace("total += ", "total -= ")
    (tmp_path / "wrong.cpp").write_text(wrong)
    describe(tmp_path, "cpp", {"1": "problem/v0.cpp", "2": "wrong.cpp"})
    return tmp_path


def describe(folder, backend, kernels):
    rounds = {name: {"kernel": kernel, "flags": ["-O3"]} for name, kernel in kernels.items()}
    known = {"backend": backend, "best": 1, "rounds": rounds, "cases": CASES}
    (folder / "bench.json").write_text(json.dumps(known))


def run(folder, *words):
    command = [sys.executable, BENCH.name, "--iters-per-repeat", "3", *words]
    # From an empty path: nothing of this repository may be needed.
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={"PATH": "/usr/bin"}
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.judged
def test_it_checks_and_times_every_case(folder):
    code, said = run(folder, "--summary-csv", "out.csv")
    assert code == 0, said
    with open(folder / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["N"], row["Check"]) for row in rows] == [
        ("63x129", "63", "PASS"),
        ("8x1000", "8", "PASS"),
    ]
    assert all(float(row["Forward Time (ms)"]) > 0 for row in rows)
    assert all(float(row["out_snr"]) > 100 for row in rows)


@pytest.mark.judged
@pytest.mark.parametrize("which", [("--round", "2"), ("--kernel", "wrong.cpp", "--flag=-O1")])
def test_it_fails_a_wrong_kernel(folder, which):
    code, said = run(folder, *which, "--repeats", "0")
    assert (code, "Check FAIL" in said) == (1, True)


def test_it_names_the_rounds_that_there_are(folder):
    code, said = run(folder, "--round", "3")
    assert (code, "round 3: accepted: 1, 2" in said) == (1, True)


def test_what_a_kernel_raises_makes_it_fail(capsys):
    def call(inputs):
        raise ValueError("no")

    words = parser().parse_args(["--repeats", "0"])
    rest = ({"tolerance": {}}, "cpu", words)
    row = row_of("a", CASES["63x129"], load(SOFTMAX / "ref.py"), call, rest)
    assert (row["Check"], row["Forward Time (ms)"], row["out_snr"]) == ("FAIL", "nan", "nan")
    assert "ValueError: no" in capsys.readouterr().err


@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_it_says_where_there_is_no_device(folder, backend):
    describe(folder, backend, {"1": "problem/v0.cu"})
    (folder / "problem" / "v0.cu").touch()
    hidden = subprocess.run(
        [sys.executable, BENCH.name],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert hidden.returncode == 2
    assert "needs a GPU that torch can use" in hidden.stderr


def test_it_knows_the_types_of_a_signature():
    source = (
        '/* extern "C" void solve(int); */ extern "C" void solve(const float* x,\n long n, int m)'
    )
    assert [kind.__name__ for kind in types_of(source)] == ["c_void_p", "c_long", "c_int"]
    assert type_of("unsigned long long n").__name__ == "c_long"
    assert type_of("double scale").__name__ == "c_double"


WRONG = 7
UNBUILT = 8
FLAGS = {2: ["-O3", "-march=native"], 3: ["-fopenmp"]}


@pytest.fixture
def trail(db):
    """The sample with C++ in the place of CUDA, so that every round of it runs on this host."""
    sample = build_sample()
    sample.backend, sample.cases = "cpp", ["255x2051"]
    v0 = (SOFTMAX / "v0.cpp").read_text()
    texts = {WRONG: v0.replace("total += ", "total -= "), UNBUILT: "no C++ at all"}
    # A block, aliases and a comment in between: what a pattern over the source would not read.
    texts[2] = v0.replace('extern "C" void solve(', 'using rows = int;\nextern "C" {\nvoid solve(')
    texts[2] = texts[2].replace("int N", "rows N") + "\n}\n"
    found = trail_of(sample)
    tried = tuple(
        replace(one, candidate=Candidate(file_name="v0.cpp", text=texts.get(one.number, v0),
                                         flags=FLAGS.get(one.number, [])))
        for one in found.rounds
    )  # fmt: skip
    return replace(found, campaign=sample, rounds=tried)


def put(files, folder):
    for name, text in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.judged
def test_every_round_runs_in_a_folder_of_its_own(trail, tmp_path):
    for one in trail.rounds:
        own = tmp_path / str(one.number)
        put(reproducer_files(trail, one.number), own)
        code, said = run(own, "--repeats", "1")
        assert code == (1 if one.number in (WRONG, UNBUILT) else 0), said
        assert ("does not compile" in said) is (one.number == UNBUILT)
        beside = one.against is not None and one.number not in (1, UNBUILT)
        assert ("the other one: label 255x2051" in said) is beside, said
        assert ("its time over the first one's" in said) is beside
        known = json.loads((own / "bench.json").read_text())
        assert known["round"] == one.number
        assert known["rounds"][str(one.number)]["flags"] == FLAGS.get(one.number, [])


@pytest.mark.judged
def test_the_whole_trail_runs_any_round_against_any_other(trail, tmp_path):
    put(FORMATS["workspace"].files(trail), tmp_path)
    for one in trail.rounds:
        put([(one.snapshot, one.candidate.text)], tmp_path)
    code, said = run(tmp_path, "--round", "2", "--against", "1", "--repeats", "1")
    assert (code, "its time over" in said) == (0, True), said
    signature = json.loads((tmp_path / "bench.json").read_text())["rounds"]["2"]["signature"]
    assert signature == ["float* input", "float* output", "int N", "int D"]


def test_it_says_which_rounds_can_be_reproduced(trail):
    with pytest.raises(LookupError, match=r"round 11: no closed round .* accepted: 1, 2"):
        list(reproducer_files(trail, 11))


def test_it_builds_as_the_evaluator_does():
    assert COMPILERS["cpp"] == (programs.COMPILERS, programs.CPP_BUILD)
    ours = {*cuda.target_flags("sm_90"), *programs.CUDA_BUILD}
    # Which card there is only its own host knows.
    assert {*COMPILERS["cuda"][1]} - {"-arch=native"} == {f for f in ours if "gencode" not in f}


@pytest.mark.parametrize(
    "kernel",
    [
        lambda x, out, total: (out.copy_(x * 2), total.copy_(x.sum())),
        lambda x: (x * 2, x.sum()),
        lambda **given: (
            given["out"].copy_(given["x"] * 2),
            given["total"].copy_(given["x"].sum()),
        ),
    ],
)
def test_what_a_kernel_returns_goes_to_the_outputs_that_it_does_not_take(kernel):
    given = {"x": torch.ones(3), "out": torch.zeros(3), "total": torch.zeros(())}
    called_with_all(kernel)(given)
    assert (given["out"].tolist(), float(given["total"])) == ([2.0, 2.0, 2.0], 3.0)
