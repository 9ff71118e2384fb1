"""The tricks for GPUs, and what holds for the files of all of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import import_module

import pytest

from campaigns.benchmarks.trick import TrickError, read
from campaigns.evaluator.contract import Outcome
from tests.architecture.source_tree import ROOT
from tests.evaluator.tricks.candidate_file import every
from tests.evaluator.tricks.outcome import evaluate, held_to, not_believed, params

LEAST = {"cheats": 80, "honest": 40}
NAMED = re.compile(r"^[ \"]*from (campaigns\.[\w.]+) import ([\w, ]+)", re.MULTILINE)
BACKENDS = ("cpp", "triton", "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("trick", params("cheats", "cuda"))
def test_it_does_not_fall_for_on_a_gpu(service, trick, tmp_path):
    not_believed(service, trick, tmp_path, "cuda:0")


@pytest.mark.gpu
@pytest.mark.parametrize("trick", params("honest", "cuda"))
def test_it_lets_pass_on_a_gpu(service, trick, tmp_path):
    held_to(trick, evaluate(service, trick, tmp_path, "cuda:0"))


@pytest.mark.judged
@pytest.mark.parametrize("trick", [*params("cheats", "cuda"), *params("honest", "cuda")])
def test_it_compiles_what_only_runs_on_a_gpu(trick, tmp_path):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not on PATH; install the CUDA toolkit to compile these")
    command = [nvcc, "-std=c++17", "-cuda", "--default-stream=per-thread", *trick.flags]
    out = tmp_path / "candidate.ii"
    done = subprocess.run(
        [*command, str(trick.path), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", LEAST)
def test_there_are_enough_and_each_differs(kind):
    found = [trick for backend in BACKENDS for trick in every(kind, backend)]
    assert len(found) >= LEAST[kind]
    said = [(trick.backend, trick.words["trick"]) for trick in found]
    assert sorted(said) == sorted(set(said))
    known = {*Outcome, "no_gain", "needs_review"}
    assert all(set(trick.outcomes) <= known for trick in found)
    honest = kind == "honest"
    assert all((trick.outcomes == ("passed",)) == honest for trick in found)


def test_what_a_candidate_takes_over_is_there():
    """A cheat that names what has moved crashes, and so would be refused for nothing."""
    texts = [trick.path.read_text() for kind in LEAST for b in BACKENDS for trick in every(kind, b)]
    texts += [file.read_text() for file in (ROOT / "tests/gpu").glob("*.py")]
    named = {found for text in texts for found in NAMED.findall(text)}
    assert len(named) >= 8
    for module, names in named:
        for name in names.split(","):
            name = name.split(" as ")[0].strip()
            assert hasattr(import_module(module), name) or import_module(f"{module}.{name}")


def test_it_names_what_a_header_lacks(tmp_path):
    file = tmp_path / "a.cpp"
    file.write_text("// trick: nothing\n// outcome: passed\n")
    with pytest.raises(TrickError, match=re.escape("a.cpp: problem: missing")):
        read(file, tmp_path)


def test_it_finds_every_problem():
    for kind in LEAST:
        for backend in BACKENDS:
            for trick in every(kind, backend):
                assert (trick.problem / "problem.toml").is_file(), trick.path
                assert trick.problem.is_relative_to(ROOT / "campaigns")
