"""The same entries give the same commits, on any host, again and again."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tuned
from hypothesis import strategies as st

from campaigns.lineage import git as program
from campaigns.lineage import repository
from campaigns.lineage.git import LineageError
from campaigns.lineage.repository import PlannedCommit, repository_of, write

BRANCH = "optimize/copy_cpp_test-cpu_2026-11-22"
FIRST = PlannedCommit(
    "[opt] copy round-1: baseline\n", {"v0.cpp": "time 100", "ref.py": ""}, 1_700_000_000
)
SECOND = PlannedCommit(
    "[opt] copy round-2: faster (+5.0 %)\n", {"v0.cpp": "time 50"}, 1_700_000_060
)
# By a plain `git commit`. Whatever changes these makes other commits of every old campaign.
KNOWN = ["1587bae4", "97703db5"]

texts = st.text(st.characters(exclude_categories=["Cs"]))
entries = st.lists(
    st.builds(
        PlannedCommit,
        st.just("[opt]\n") | texts.map(lambda text: f"[opt]\n\n    {text!r}\n"),
        st.dictionaries(st.sampled_from(["v0.cpp", "ref.py", "src/a b.h"]), texts, min_size=1),
        st.integers(0, 4_000_000_000),
    ),
    min_size=1,
    max_size=4,
)


def asked(*arguments: str, key: int = 7) -> str:
    """What a person's git says about the repository."""
    command = ["git", f"--git-dir={repository_of(key)}", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode().strip()


def log(key: int = 7) -> list[str]:
    return asked("log", "--reverse", "--format=%H", BRANCH, key=key).split()


def test_it_makes_one_commit_of_each_entry() -> None:
    hashes = write(7, BRANCH, [FIRST, SECOND])
    assert [sha[:8] for sha in hashes] == KNOWN
    assert log() == hashes
    assert asked("symbolic-ref", "--short", "HEAD") == BRANCH
    assert asked("show", f"{BRANCH}:v0.cpp") == "time 50"
    assert asked("ls-tree", "--name-only", f"{BRANCH}~1").split() == ["ref.py", "v0.cpp"]
    assert asked("ls-tree", "--name-only", BRANCH).split() == ["v0.cpp"]
    assert asked("log", "-1", "--format=%an %ae %at %ct", BRANCH) == (
        "kopt kopt@invalid 1700000060 1700000060"
    )
    assert asked("fsck", "--strict") == ""


@tuned(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chain=entries)
def test_it_gives_the_same_hashes_when_it_is_made_again(chain: Sequence[PlannedCommit]) -> None:
    shutil.rmtree(repository_of(7), ignore_errors=True)
    hashes = write(7, BRANCH, chain)
    assert log() == hashes
    assert write(7, BRANCH, chain) == hashes
    shutil.rmtree(repository_of(7))
    # Commit by commit, as a campaign does it.
    grown = [write(7, BRANCH, chain[:length])[-1] for length in range(1, len(chain) + 1)]
    assert grown == hashes == log()
    for sha, entry in zip(hashes, chain, strict=True):
        for path, text in entry.files.items():
            command = ["git", f"--git-dir={repository_of(7)}", "cat-file", "blob", f"{sha}:{path}"]
            found = subprocess.run(command, capture_output=True, check=True).stdout
            assert found == text.encode()


def test_r9_it_takes_nothing_from_this_users_git(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\n")
        (hooks / name).chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f"[core]\nhooksPath = {hooks}\nautocrlf = true\n[user]\nname = Eve\n"
        "[commit]\ngpgSign = true\n[init]\ndefaultObjectFormat = sha256\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in {
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_AUTHOR_NAME": "Eve",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_TEMPLATE_DIR": str(hooks),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
    }.items():
        monkeypatch.setenv(name, value)
    assert [sha[:8] for sha in write(7, BRANCH, [FIRST, SECOND])] == KNOWN
    assert not (tmp_path / "owned").exists()
    assert not (tmp_path / "elsewhere").exists()
    assert not (repository_of(7) / "hooks").exists()


def test_r9_it_leaves_a_repository_around_it_alone(settings, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    before = sorted(tmp_path.glob(".git/**/*"))
    settings.DATA_DIR = tmp_path / "data"
    write(7, BRANCH, [FIRST])
    assert sorted(tmp_path.glob(".git/**/*")) == before


def test_it_says_again_what_the_branch_is() -> None:
    hashes = write(7, BRANCH, [FIRST, SECOND])
    asked("update-ref", "refs/heads/mine", hashes[1])
    asked("update-ref", f"refs/heads/{BRANCH}", hashes[0])
    assert write(7, BRANCH, [FIRST, SECOND]) == hashes == log()
    write(7, BRANCH, [SECOND])
    assert write(7, BRANCH, [FIRST, SECOND]) == hashes == log()
    assert asked("rev-parse", "mine") == hashes[1]


@pytest.mark.parametrize("lost", ["HEAD", "objects", "refs", "config"])
def test_it_mends_a_damaged_repository(lost: str) -> None:
    hashes = write(7, BRANCH, [FIRST, SECOND])
    path = repository_of(7) / lost
    shutil.rmtree(path) if path.is_dir() else path.write_text("\x00junk")
    assert write(7, BRANCH, [FIRST, SECOND]) == hashes == log()
    assert asked("fsck", "--strict") == ""


def test_it_leaves_what_it_has_where_a_new_one_can_not_be_made_either(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hashes = write(7, BRANCH, [FIRST])
    real = shutil.which("git")
    script = tmp_path / "git"
    full = "fatal: sha1 file write error: No space left on device"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *fast-import*) echo "{full}" >&2; exit 128;; esac\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with pytest.raises(LineageError, match=f"^git fast-import: {full}$"):
            write(7, BRANCH, [FIRST, SECOND])
    assert log() == hashes
    assert [path.name for path in repository_of(7).parent.iterdir() if path.is_dir()] == [
        "campaign-7.git"
    ]
    assert write(7, BRANCH, [FIRST, SECOND])[0] == hashes[0]


def test_it_refuses_a_path_that_leaves_the_tree() -> None:
    with pytest.raises(LineageError, match="plain path"):
        write(7, BRANCH, [PlannedCommit("x\n", {"../owned": ""}, 0)])
    assert not repository_of(7).exists()


def test_it_says_that_there_is_no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LineageError, match=r"^git: no such program$"):
        write(7, BRANCH, [FIRST])


def test_it_names_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(LineageError, match=f"^git: No such file or directory {gone}$"):
        program.git(gone / "campaign-7.git", "log")


def test_it_ends_a_git_that_does_not_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(program, "LIMIT_S", 0.2)
    with pytest.raises(LineageError, match=r"^git init: not done within 0.2 s$"):
        write(7, BRANCH, [FIRST])


def test_it_says_that_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(program.subprocess, "run", run)
    with pytest.raises(LineageError, match=r"^git: No space left on device$"):
        write(7, BRANCH, [FIRST])


def test_it_says_that_its_folder_can_not_be_made(settings) -> None:
    (settings.DATA_DIR / "lineage").write_text("a file")
    with pytest.raises(LineageError, match=r"lineage: File exists$"):
        write(7, BRANCH, [FIRST])


def test_it_waits_for_nobody_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "PATIENCE_S", 0.1)
    with repository._locked(7), pytest.raises(LineageError, match="another process is writing"):
        write(7, BRANCH, [FIRST])
