"""The secret key survives whatever ends the process that makes it."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kopt.secret import secret_key


@pytest.fixture(autouse=True)
def no_key_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOPT_SECRET_KEY", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "keys"
    made.mkdir()
    return made


def test_it_makes_one_key_that_only_the_owner_reads(folder: Path) -> None:
    key = secret_key(folder)
    assert len(key) >= 50
    assert secret_key(folder) == key
    assert stat.S_IMODE((folder / "secret.key").stat().st_mode) == 0o600
    assert os.listdir(folder) == ["secret.key"]


def test_it_repairs_an_empty_key_file(folder: Path) -> None:
    (folder / "secret.key").touch()
    key = secret_key(folder)
    assert len(key) >= 50
    assert (folder / "secret.key").read_text() == key


def test_it_leaves_no_empty_key_when_it_is_ended_while_writing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(handle: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("kopt.secret.os.fsync", end)
        with pytest.raises(KeyboardInterrupt):
            secret_key(folder)
    assert os.listdir(folder) == []
    assert len(secret_key(folder)) >= 50


def test_it_gives_processes_that_start_together_the_same_key(folder: Path) -> None:
    (folder / "secret.key").touch()
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(secret_key, [folder] * 32))
    assert [len(key) >= 50 for key in keys] == [True]


def test_it_prefers_the_key_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOPT_SECRET_KEY", "given")
    assert secret_key(folder) == "given"
    assert os.listdir(folder) == []
