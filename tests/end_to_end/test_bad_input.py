"""Bad input on the command line: one line that names the place, an exit code, nothing left over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection

from campaigns.models import AbortReason, Campaign, Problem, Protocol, Round, RoundState
from knowledge.lookup.database import STILL
from tests.architecture.source_tree import ROOT
from tests.end_to_end.answer import Run
from tests.evaluator import small

pytestmark = pytest.mark.judged

USAGE, NOT_FOUND, NOT_ACCEPTED = 1, 2, 5
NAN = "for (int i = 0; i < N; ++i) y[i] = 0.0f / 0.0f;"
HANGS = "for (volatile int i = 0;; i = i + 1) {}"
NO_OUTPUTS = small.REF.replace(', "outputs": ["y"]', "")
MISMATCH = 'extern "C" void solve(const float* x, float* y, float N) {}'


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    return small.write_problem(tmp_path)


@pytest.mark.sentinel
@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        (small.source("return undeclared;").text, "build_failed", ".cpp:2:10: error: "),
        (MISMATCH, "build_failed", "kernel.cpp:1: solve: parameter 'N' is float"),
        (small.source("*(volatile int*)0 = 1;").text, "crashed", "during check: killed by SIGSEGV"),
        (small.source(HANGS).text, "timed_out", "no answer within 1.5 s"),
        (small.source("").text, "wrong_result", "output y: 4096 of 4096 elements wrong"),
        (small.source(NAN).text, "wrong_result", "nan"),
    ],
    ids=["does not compile", "signature", "segfault", "hangs", "writes nothing", "nan"],
)
def test_it_says_of_a_bad_kernel_what_happened(
    run: Run, problem: Path, tmp_path: Path, text: str, outcome: str, words: str
) -> None:
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text(text)
    answer = run("evaluate", kernel, "--problem", problem, "--json")
    assert answer.code == NOT_ACCEPTED
    progress, *doing, last = answer.lines
    assert progress.startswith("kernel.cpp on ")
    assert all(line.startswith("  ") for line in doing)
    assert last.startswith(f"evaluate: {outcome}: ")
    assert words in last
    assert answer.data["outcome"] == outcome
    assert answer.data["verdict"] in ("rejected", "invalid")
    assert [case["time_us"] for case in answer.data["cases"] if case["time_us"]] == []


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        (
            small.REF.replace("def reference", "def referenz"),
            "double/ref.py: reference: no such function",
        ),
        (NO_OUTPUTS, "double/ref.py: setup(n4096): outputs: name at least one"),
    ],
    ids=["no reference", "no outputs"],
)
def test_it_names_the_line_of_a_bad_reference_in_evaluate(
    run: Run, tmp_path: Path, ref: str, words: str
) -> None:
    problem = small.write_problem(tmp_path, ref=ref)
    answer = run("evaluate", problem / "v0.cpp", "--problem", problem, "--json")
    assert (answer.code, answer.data["outcome"]) == (USAGE, "problem")
    assert words in answer.lines[-1]
    assert all(line.startswith("  ") for line in answer.lines[1:-1])


def leave_out_reference(folder: Path) -> None:
    (folder / "ref.py").write_text(small.REF.replace("def reference", "def referenz"))


def point_outside(folder: Path) -> None:
    shutil.copy(folder / "v0.cpp", folder.parent)
    (folder / "problem.toml").write_text(small.TOML.replace('"v0.cpp"', '"../v0.cpp"'))


def link_outside(folder: Path) -> None:
    shutil.move(folder / "v0.cpp", folder.parent)
    (folder / "v0.cpp").symlink_to(folder.parent / "v0.cpp")


def nothing(folder: Path) -> None:
    """The folder is good; an argument is not."""


REFUSED = [
    (leave_out_reference, [], USAGE, "double/ref.py: reference: no such function"),
    (point_outside, [], USAGE, "[files] cpp: '../v0.cpp' leaves the problem folder"),
    (link_outside, [], USAGE, "[files] cpp: 'v0.cpp' is a link that leaves the problem folder"),
    (nothing, ["--backend", "fortran"], USAGE, "backend: 'fortran'"),
    (nothing, ["--platform", "h900"], NOT_FOUND, "platform: 'h900'; accepted"),
    (nothing, ["--problem", "nowhere"], NOT_FOUND, "problem: 'nowhere'; accepted: "),
    (nothing, ["--case", "n1"], USAGE, "case: 'n1'; accepted"),
    (nothing, ["--rounds", "some"], USAGE, "argument --rounds: invalid int value: 'some'"),
]


@pytest.mark.django_db
@pytest.mark.parametrize("verb", [["new"], ["run", "--local"]], ids=["new", "run"])
@pytest.mark.parametrize(("spoil", "change", "code", "words"), REFUSED)
def test_it_refuses_a_campaign_and_stores_nothing(
    run: Run,
    problem: Path,
    verb: list[str],
    spoil: Callable[[Path], None],
    change: list[str],
    code: int,
    words: str,
) -> None:
    spoil(problem)
    wish = ["--problem", str(problem), "--backend", "cpp", *change]
    answer = run("campaign", *verb, *wish, "--json")
    assert (answer.code, answer.out) == (code, "")
    (line,) = answer.lines
    assert line.startswith("campaign: ")
    assert words in line
    assert [model.objects.count() for model in (Campaign, Problem, Protocol)] == [0, 0, 0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ref", "v0", "reason", "words"),
    [
        (
            NO_OUTPUTS.partition("def work")[0],
            small.source().text,
            AbortReason.PROBLEM_UNUSABLE,
            "double/ref.py: setup(n4096): outputs: name at least one",
        ),
        (small.REF, MISMATCH, AbortReason.BASELINE_FAILED, "v0.cpp:1: solve: "),
        (small.REF, small.source(NAN).text, AbortReason.BASELINE_FAILED, "nan"),
    ],
    ids=["no outputs", "signature", "nan"],
)
def test_it_ends_a_campaign_whose_problem_can_not_be_run(
    run: Run, tmp_path: Path, ref: str, v0: str, reason: AbortReason, words: str
) -> None:
    problem = small.write_problem(tmp_path, ref=ref)
    (problem / "v0.cpp").write_text(v0)
    wish = ["--problem", str(problem), "--backend", "cpp"]
    answer = run("campaign", "run", "--local", *wish, "--no-baselines", "--json")
    assert answer.code == (NOT_ACCEPTED if reason == AbortReason.BASELINE_FAILED else USAGE)
    assert (answer.data["state"], answer.data["stop_reason"]) == ("aborted", reason)
    assert answer.data["gain"] is None
    assert answer.data["incumbent_round"] is None
    assert answer.lines[-1].startswith(f"campaign: {answer.data['campaign']} aborted: ")
    assert words in answer.lines[-1]
    assert not Round.objects.exclude(state=RoundState.CLOSED).exists()
    assert Campaign.objects.get().finished_at is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite's file is ours to fill")
def test_it_says_that_the_database_has_no_room_and_stores_nothing(run: Run, problem: Path) -> None:
    (problem / "notes.txt").write_text("x" * 200_000)
    wish = ["--problem", str(problem), "--backend", "cpp"]
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # else the pages that earlier tests left free are room
        (before,) = cursor.execute("PRAGMA max_page_count").fetchone()
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages + 1}")
        try:
            answer = run("campaign", "new", *wish)
        finally:
            cursor.execute(f"PRAGMA max_page_count = {before}")
    assert (answer.code, answer.out) == (USAGE, "")
    (line,) = answer.lines
    assert line.startswith("campaign: The disk of ")
    assert line.endswith(" is full. " + STILL)
    assert [model.objects.count() for model in (Campaign, Problem, Protocol)] == [0, 0, 0]
    assert run("campaign", "new", *wish).code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> list[str]:
    """The start of a command that runs the rest with a full disk of `$SIZE` at $KOPT_DATA."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare on PATH")
    own = [unshare, "-rm", "sh", "-c"]
    mount = "mount -t tmpfs -o size=$SIZE tmpfs $KOPT_DATA"
    if subprocess.run([*own, mount], env=disk(tmp_path, "4k"), check=False).returncode:
        pytest.skip("this user may not mount a disk of its own")
    return [
        *own,
        f'{mount} && "$@"; code=$?; find $KOPT_DATA/scratch -mindepth 1 >&2; exit $code',
        "sh",
    ]


def disk(folder: Path, size: str) -> dict[str, str]:
    return {**os.environ, "KOPT_DATA": str(folder), "KOPT_DEVICE": "cpu", "SIZE": size}


@pytest.mark.parametrize(
    ("size", "code"), [("4k", USAGE), ("8k", NOT_ACCEPTED)], ids=["at once", "with the job"]
)
def test_it_says_that_the_disk_is_full(
    small_disk: list[str], tmp_path: Path, size: str, code: int
) -> None:
    problem = small.write_problem(tmp_path)
    (tmp_path / "disk").mkdir()
    command = ["evaluate", str(problem / "v0.cpp"), "--problem", str(problem)]
    done = subprocess.run(
        [*small_disk, sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=disk(tmp_path / "disk", size),
        capture_output=True,
        text=True,
        check=False,
    )
    progress, last = done.stderr.splitlines()
    assert progress.startswith("v0.cpp on ")
    assert last.startswith("evaluate: ")
    assert "disk full: " in last
    assert done.returncode == code
