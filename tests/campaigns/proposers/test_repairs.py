"""What the built-in search makes of a candidate that failed (R17)."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Failure, Repairer, Situation, proposer

PLAIN = """#include <cmath>

extern "C" void solve(float* input, float* output, int N) {
    for (int i = 0; i < N; ++i) output[i] = input[i] + 1.0f;
}
"""
# Steps over whole tiles alone, and so leaves out what is left of an odd size.
TILED = """#include <cmath>
#include <cstring>

constexpr int TILE = 8;

extern "C" void solve(float* input, float* output, int N) {
    for (int i = 0; i + TILE <= N; i += TILE)
        for (int j = 0; j < TILE; ++j) output[i + j] = input[i + j] + 1.0f;
}
"""


def situation(text: str = PLAIN, backend: str = "cpp", flags: tuple[str, ...] = ()) -> Situation:
    return Situation("tiny", "copy", backend, Source("v0.cpp", text, flags), 1, "cpu")


def failure(source: Source, outcome: str, *tried: Source) -> Failure:
    return Failure("some.idea", "it", source, {"n": 1}, outcome, "", "", (source, *tried))


def mended(at: Situation, source: Source, outcome: str) -> list[str]:
    """The labels of the repairs one after the other, until none is left."""
    found, tried = [], [source]
    search = proposer("search")
    assert isinstance(search, Repairer)
    while (variant := search.repair(at, failure(source, outcome, *tried))) is not None:
        found.append(variant.label)
        assert variant.source not in tried
        assert variant.params["n"] == 1
        tried.append(variant.source)
        source = variant.source
    return found


def test_r17_it_takes_flags_back_one_after_the_other():
    flagged = Source("v0.cpp", PLAIN, ("-O3", "-march=native", "-ffast-math"))
    assert mended(situation(), flagged, "wrong_result") == [
        "without -ffast-math",
        "without -march=native",
    ]


def test_r17_it_keeps_the_flags_of_the_incumbent_and_of_the_idea():
    flagged = Source("v0.cpp", f"{PLAIN}// changed\n", ("-O3", "-fopenmp", "-march=native"))
    assert mended(situation(flags=("-O3",)), flagged, "crashed") == ["without -march=native"]


def test_r17_it_tries_the_next_smaller_value_until_that_of_the_incumbent():
    text = "#define TILE 4\n" + PLAIN
    larger = Source("v0.cpp", text.replace("4", "32", 1))
    assert mended(situation(text), larger, "build_failed") == ["TILE 16", "TILE 8"]


def test_r17_it_makes_a_triton_block_and_its_warps_smaller():
    text = Path("campaigns/problems/vector_add/v0.py").read_text()
    at = replace(situation(text, "triton"), source=Source("v0.py", text))
    larger = text.replace("block = 128", "block = 512").replace(
        "BLOCK=block", "BLOCK=block, num_warps=16"
    )
    labels = mended(at, Source("v0.py", larger), "build_failed")
    assert labels[:2] == ["BLOCK 256", "num_warps 8"]
    assert set(labels[2:]) <= {"num_warps 4", "num_warps 2", "num_warps 1"}


def test_r17_it_has_no_repair_for_what_it_does_not_understand():
    assert mended(situation(), Source("v0.cpp", "int nothing;"), "build_failed") == []


def built(source: Source, folder: Path) -> ctypes.CDLL:
    path = folder / "kernel.cpp"
    path.write_text(source.text)
    library = folder / "kernel.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", str(library), str(path)], check=True)
    return ctypes.CDLL(str(library))


def answer(library: ctypes.CDLL, n: int) -> list[float]:
    given, found = (ctypes.c_float * n)(*range(n)), (ctypes.c_float * n)()
    library.solve(given, found, n)
    return list(found)


def test_r17_it_leads_odd_sizes_round_the_tiles(tmp_path):
    wrong = Source("v0.cpp", TILED)
    (tmp_path / "wrong").mkdir()
    (tmp_path / "mended").mkdir()
    right = [float(i + 1) for i in range(13)]
    assert answer(built(wrong, tmp_path / "wrong"), 13) != right
    search = proposer("search")
    variant = search.repair(situation(), failure(wrong, "wrong_result"))
    assert variant.label == "only where sizes are multiples of 8"
    library = built(variant.source, tmp_path / "mended")
    assert answer(library, 13) == right
    assert answer(library, 16) == [float(i + 1) for i in range(16)]
    assert "N % 8 == 0" in variant.source.text
    assert mended(situation(), wrong, "wrong_result") == [
        "only where sizes are multiples of 8",
        *("TILE 4", "TILE 2", "TILE 1"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        TILED.replace("int N", "int N, int D"),
        TILED.replace('extern "C"', "#define C_LINKAGE\n"),
        "constexpr int TILE = 8;",
    ],
)
def test_r17_it_guards_only_what_has_the_same_entry(other):
    labels = mended(situation(), Source("v0.cpp", other), "wrong_result")
    assert labels == ["TILE 4", "TILE 2", "TILE 1"]


def test_r17_it_guards_nothing_where_no_size_is_given():
    plain, tiled = (text.replace("int N", "float N") for text in (PLAIN, TILED))
    labels = mended(situation(plain), Source("v0.cpp", tiled), "wrong_result")
    assert labels == ["TILE 4", "TILE 2", "TILE 1"]
