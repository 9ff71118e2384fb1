"""Rounds of a repository, from its bring to a branch, on the device of this host."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.db import IntegrityError
from django.utils import timezone

from campaigns.devices.discover import ensure_platform, this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.processes import new_holder
from campaigns.models import EvaluationState, RepositoryState
from campaigns.models.transitions import move
from campaigns.repositories.hand_in import (
    HandedChange,
    RepositoryRefused,
    add_repository,
    hand_in_change,
)
from campaigns.repositories.models import Repository, RepositoryRound, proven_of
from campaigns.repositories.own_repository import OwnRepository
from campaigns.repositories.rounds import next_rounds, release_rounds, stop_repository
from campaigns.repositories.try_change import try_change
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.steps.worker import WorkerContext, worker_beat
from tests.campaigns.repositories.projects import (
    ADD,
    ADD_HARNESS,
    PACKAGE,
    PACKAGE_HARNESS,
    ROWS,
    ROWS_HARNESS,
    make_repository,
    patch_of,
    run_git,
)

pytestmark = [pytest.mark.django_db, pytest.mark.judged]

# A process that has ended, on this host.
GONE = new_holder("killed").replace(f" {os.getpid()} ", " 4194304 ")
BLOCK = ("kernels/rows.cpp", "int block = 8;")


@pytest.fixture
def bench():
    device = this_device("cpu")
    # No evaluator: a project's own harness needs none.
    return WorkerContext(None, device, worker_beat("tester", device))


@pytest.fixture
def rows(tmp_path, bench):
    """The project of rows with its baseline measured."""
    return _brought(make_repository(tmp_path / "rows", ROWS), ROWS_HARNESS, bench)


@pytest.mark.sentinel
def test_r9_it_ends_in_a_branch_with_a_gain_and_leaves_the_users_tree(tmp_path, rows, bench):
    folder = tmp_path / "rows"
    before = run_git(folder, "status", "--porcelain"), run_git(folder, "log", "--all", "--oneline")
    made = _tried(rows, bench, patch_of(folder, *BLOCK, "int block = 16;"))
    assert (made.reason, made.verdict) == (Reason.PROMOTED, VerdictWord.ACCEPTED)
    assert "2.00× faster" in made.sentence
    assert "by the project's own harness" in made.sentence
    rows.refresh_from_db()
    assert rows.head == made.commit != rows.base
    patch = _from_head(tmp_path, rows, "int block = 16;", "int block = 64;")
    again = _tried(rows, bench, patch, change="a block of 64")
    assert again.verdict is VerdictWord.ACCEPTED
    rows.refresh_from_db()
    after = run_git(folder, "status", "--porcelain"), run_git(folder, "log", "--all", "--oneline")
    assert after == before
    own = OwnRepository(rows.pk)
    (tmp_path / "kopt.bundle").write_bytes(own.bundle(rows.base, rows.branch))
    run_git(folder, "fetch", "-q", str(tmp_path / "kopt.bundle"), f"{rows.branch}:{rows.branch}")
    assert "int block = 64;" in run_git(folder, "show", f"{rows.branch}:kernels/rows.cpp")
    (tmp_path / "kopt.patch").write_bytes(own.patch(rows.base, rows.head))
    run_git(folder, "am", "-q", str(tmp_path / "kopt.patch"))
    assert "int block = 64;" in (folder / "kernels/rows.cpp").read_text()
    said = run_git(folder, "log", "-1", "--format=%B")
    assert "dtype=int32, width=1024" in said
    assert "by the project's own harness" in said


@pytest.mark.sentinel
def test_r19_it_refuses_a_change_that_gains_in_one_class_and_loses_in_another(
    tmp_path, rows, bench
):
    patch = patch_of(tmp_path / "rows", *BLOCK, "int block = width > 100 ? 16 : 4;")
    made = _tried(rows, bench, patch)
    assert (made.reason, made.verdict) == (Reason.CLASS_REGRESSED, VerdictWord.REJECTED)
    assert "Config classes differ" in made.sentence
    gains = {one["name"]: one["gain"]["gain"] for one in made.result["classes"]}
    assert gains == {
        "dtype=int32, width=64": pytest.approx(-0.5),
        "dtype=int32, width=1024": pytest.approx(1.0),
    }
    rows.refresh_from_db()
    assert rows.head == rows.base


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        ("int block = 8;;; broken", Reason.BUILD_FAILED, "the build ended with exit status"),
        ("int block = 8; while (width);", Reason.TIMED_OUT, "the benchmark took more than"),
        ("int block = 8; *(int *)0 = 1;", Reason.CRASHED, "the benchmark ended with exit status"),
        ("int block = 8; return -width;", Reason.WRONG_RESULT, "accepted: a number above zero"),
        ("int block = 8; int a = 0;", Reason.WITHIN_NOISE, "no change of the score shown"),
        ("int block = 4;", Reason.SLOWER, "slower"),
    ],
)
def test_it_says_why_a_change_is_not_kept(tmp_path, bench, change, reason, words):
    folder = make_repository(tmp_path / "rows", ROWS)
    limit = ROWS_HARNESS.replace("limit_s = 60", "limit_s = 4")
    rows = _brought(folder, limit, bench)
    made = _tried(rows, bench, patch_of(folder, *BLOCK, change))
    assert (made.reason, made.commit) == (reason, "")
    assert words in made.sentence
    rows.refresh_from_db()
    assert (rows.head, rows.state) == (rows.base, RepositoryState.OPEN)


# Within a function, and so without a header.
FILL = 'int system(const char *) asm("system"); system("cat /dev/zero > big");'


def test_a_change_that_fills_the_disk_is_refused_for_that(tmp_path, settings, rows, bench):
    settings.KOPT_HARNESS_MIB = 16.0
    made = _tried(rows, bench, patch_of(tmp_path / "rows", *BLOCK, f"int block = 4; {FILL}"))
    assert (made.reason, made.verdict) == (Reason.CRASHED, VerdictWord.REJECTED)
    assert "the benchmark filled /harness: 16 MiB and 1,024 files are allowed" in made.sentence
    rows.refresh_from_db()
    assert rows.state == RepositoryState.OPEN


def test_a_harness_that_fills_the_disk_is_no_broken_host(tmp_path, settings, bench):
    settings.KOPT_HARNESS_MIB = 16.0
    fills = ROWS_HARNESS.replace('"make -s"', '"cat /dev/zero > big"')
    folder = make_repository(tmp_path / "rows", ROWS)
    rows = _added(folder, fills)
    try_change(rows.rounds.get().pk, bench)
    made = rows.rounds.get()
    assert made.reason == Reason.BUILD_FAILED
    assert "the incumbent: the build filled /harness" in made.sentence


def test_a_wrong_result_names_the_rows_and_a_repair_of_it_is_accepted(tmp_path, rows, bench):
    folder = tmp_path / "rows"
    wrong = patch_of(
        folder, *BLOCK, 'int block = 16; }\nextern "C" int none(int block, int width) {'
    )
    failed = _tried(rows, bench, wrong)
    assert failed.reason == Reason.WRONG_RESULT
    fixed = patch_of(folder, *BLOCK, "int block = 16;")
    with pytest.raises(RepositoryRefused, match="change: round 2 tried the same change"):
        _tried(rows, bench, fixed)
    mended = _tried(rows, bench, fixed, repairs=2)
    assert (mended.verdict, mended.repairs) == (VerdictWord.ACCEPTED, failed)


@pytest.mark.sentinel
def test_it_tries_a_package_whose_kernel_imports_helpers(tmp_path, bench):
    folder = make_repository(tmp_path / "package", PACKAGE)
    package = _brought(folder, PACKAGE_HARNESS, bench)
    made = _tried(
        package, bench, patch_of(folder, "softrows/blocks.py", "PASSES = 3", "PASSES = 2")
    )
    assert (made.reason, made.commit != "") == (Reason.PROMOTED, True)
    assert "1.50× faster" in made.sentence
    shown = {one["name"]: (one["before"], one["after"]) for one in made.result["classes"]}
    assert shown["rows=4"] == (pytest.approx(1000 / 12), pytest.approx(1000 / 8))
    broken = _tried(
        package,
        bench,
        patch_of(folder, "softrows/kernel.py", "part / whole", "part / most"),
        change="divide by the largest",
    )
    assert broken.reason == Reason.WRONG_RESULT
    assert "the test ended with exit status 1" in broken.sentence
    assert "test_it_sums_to_one" in broken.log


@pytest.mark.sentinel
def test_a_candidate_that_rewrites_the_harness_while_it_runs_is_caught(tmp_path, bench):
    folder = make_repository(tmp_path / "package", PACKAGE)
    package = _brought(folder, PACKAGE_HARNESS, bench)
    text = (
        "def passes():\n    open('benchmarks/bench.py', 'w').write('print(\"rows,rate,check\")')\n"
    )
    made = _tried(package, bench, patch_of(folder, "softrows/blocks.py", "def passes():\n", text))
    assert (made.reason, made.sentence) == (
        Reason.CHEATED,
        "it changed benchmarks/bench.py while it ran",
    )


@pytest.mark.parametrize(
    ("loop", "reason", "proven"),
    [
        ("i < N", Reason.PROMOTED, VerdictWord.NO_CHANGE),
        ("i < N - 1", Reason.WRONG_RESULT, VerdictWord.REJECTED),
    ],
)
def test_law_2_the_judge_has_the_last_word_on_a_kernel_that_is_one(
    tmp_path, bench, loop, reason, proven
):
    folder = make_repository(tmp_path / "add", ADD)
    with EvaluatorService() as service:
        judged = replace(bench, service=service)
        row = _brought(folder, ADD_HARNESS, judged)
        text = ADD["add.cpp"]
        patch = patch_of(folder, "add.cpp", text, text.replace("8", "4").replace("i < N", loop))
        made = _tried(row, judged, patch)
    assert (made.reason, proven_of(made).verdict) == (reason, proven)
    assert ("kopt's judge refuses it as a kernel of vector_add" in made.sentence) == (
        reason is Reason.WRONG_RESULT
    )


def test_a_table_with_other_rows_is_refused(tmp_path, bench):
    folder = make_repository(tmp_path / "package", PACKAGE)
    package = _brought(folder, PACKAGE_HARNESS, bench)
    early = "    if len(row) > 4:\n        raise SystemExit(0)\n    most = max(row)\n"
    made = _tried(
        package, bench, patch_of(folder, "softrows/kernel.py", "    most = max(row)\n", early)
    )
    assert made.reason == Reason.WRONG_RESULT
    assert "the candidate's table lacks rows=16" in made.sentence


@pytest.mark.sentinel
def test_a_baseline_that_fails_stops_the_repository(tmp_path, bench):
    folder = make_repository(tmp_path / "rows", {**ROWS, "Makefile": "all:\n\tfalse\n"})
    rows = _added(folder, ROWS_HARNESS)
    assert try_change(rows.rounds.get().pk, bench) == rows
    rows.refresh_from_db()
    assert rows.state == RepositoryState.STOPPED
    assert "the incumbent: the build ended with exit status" in rows.stop_sentence
    with pytest.raises(RepositoryRefused, match="takes no change: the baseline cannot be measured"):
        hand_in_change(rows, HandedChange("a", "b", "c", "diff"), "person", "ada")
    with pytest.raises(IntegrityError):
        RepositoryRound.objects.filter(repository=rows).update(sentence="fine")


def test_r49_five_slower_rounds_in_a_row_stop_it(tmp_path, rows, bench):
    for block in (7, 6, 5, 4, 3):
        patch = patch_of(tmp_path / "rows", *BLOCK, f"int block = {block};")
        made = _tried(rows, bench, patch, change=f"block of {block}")
        assert made.reason == Reason.SLOWER
    rows.refresh_from_db()
    assert rows.state == RepositoryState.STOPPED
    assert "5 rounds in a row were slower (round 6: Another block" in rows.stop_sentence


def test_a_round_of_a_stopped_repository_ends_with_its_worker(tmp_path, rows):
    first = _handed(rows, patch_of(tmp_path / "rows", *BLOCK, "int block = 16;"), change="16")
    assert move(first, EvaluationState.RUNNING, holder=GONE, heartbeat_at=timezone.now())
    stop_repository(rows)
    assert release_rounds() == []
    first.refresh_from_db()
    assert (first.state, first.reason) == (EvaluationState.DONE, Reason.BROKEN_HOST)
    assert first.sentence.startswith("the repository was stopped, and the worker killed vanished")


def test_rounds_are_tried_in_their_order_and_again_when_a_worker_vanishes(tmp_path, rows, bench):
    folder = tmp_path / "rows"
    first = _handed(rows, patch_of(folder, *BLOCK, "int block = 16;"), change="16")
    second = _handed(rows, patch_of(folder, *BLOCK, "int block = 32;"), change="32")
    assert next_rounds() == [first]
    assert try_change(second.pk, bench) is None
    first.refresh_from_db()
    assert move(first, EvaluationState.RUNNING, holder=GONE, heartbeat_at=timezone.now())
    assert next_rounds() == []
    assert release_rounds() == [first]
    assert try_change(first.pk, bench) == rows
    assert release_rounds() == [second]
    try_change(second.pk, bench)
    second.refresh_from_db()
    # It was written against the incumbent of its time, which is none any more.
    assert second.reason == Reason.BUILD_FAILED
    assert "patch: does not apply" in second.sentence


def test_r8_it_waits_for_a_device_that_others_use(tmp_path, bench, settings):
    settings.KOPT_GATE = "ALL"
    row = _added(make_repository(tmp_path / "rows", ROWS), ROWS_HARNESS)
    busy = DeviceCheck(DeviceState.BUSY, "80 % busy")
    waiting = replace(bench, service=SimpleNamespace(rest=lambda: None), look=lambda device: busy)
    assert try_change(row.rounds.get().pk, waiting) is None
    found = row.rounds.get()
    assert (found.state, found.doing) == (
        EvaluationState.QUEUED,
        "waits, because the device is busy: 80 % busy",
    )


def _added(folder, harness) -> Repository:
    return add_repository(folder, harness, ensure_platform(this_device("cpu")))


def _brought(folder, harness, bench) -> Repository:
    row = _added(folder, harness)
    try_change(row.rounds.get().pk, bench)
    row.refresh_from_db()
    assert row.state == RepositoryState.OPEN, (row.stop_sentence, row.rounds.get().log)
    assert row.rounds.get().reason == Reason.BASELINE
    return row


def _handed(row, patch, change="another block", repairs=None) -> RepositoryRound:
    handed = HandedChange("Another block", change, "fewer steps", patch, repairs=repairs)
    return hand_in_change(row, handed, "person", "ada")


def _tried(row, bench, patch, change="another block", repairs=None) -> RepositoryRound:
    made = _handed(row, patch, change, repairs)
    assert try_change(made.pk, bench) == row
    made.refresh_from_db()
    assert made.state == EvaluationState.DONE
    return made


def _from_head(tmp_path, row, before, after) -> str:
    """A patch against the incumbent, in a clone of the branch."""
    clone = tmp_path / f"clone-{row.head[:8]}"
    run_git(tmp_path, "clone", "-q", "-b", row.branch, str(OwnRepository(row.pk).path), str(clone))
    return patch_of(clone, "kernels/rows.cpp", before, after)
