"""What a killed process left on the disk goes when the next worker starts."""

import os
import subprocess
import sys
import time

import pytest

from campaigns import tasks
from campaigns.devices.processes import (
    UNKNOWN_KEPT_S,
    host_key,
    owned_prefix,
    remove_left_tempdirs,
    tempdir,
)


@pytest.fixture
def dead():
    """The id of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


@pytest.fixture
def parent(settings, tmp_path, monkeypatch):
    """The scratch folder, and a folder for temporary files that is only ours."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(
        "campaigns.devices.processes.tempfile.gettempdir", lambda: str(tmp_path / "tmp")
    )
    folder = settings.DATA_DIR / "scratch"
    folder.mkdir(parents=True)
    return folder


def made(path):
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "file").write_text("x")
    return path


def test_it_removes_what_a_dead_process_left(parent, dead, tmp_path):
    left = made(parent / f"evaluation-{host_key()}-{dead}-abc")
    service = made(tmp_path / "tmp" / f"kopt-{host_key()}-{dead}-abc")
    assert remove_left_tempdirs() == [left, service]
    assert not left.exists()
    assert not service.exists()


def test_it_keeps_what_a_living_process_or_another_host_may_need(parent, dead, tmp_path):
    kept = [
        made(parent / f"evaluation-{host_key()}-{os.getppid()}-abc"),
        made(parent / f"evaluation-{'0' * 12}-{dead}-abc"),
        made(parent / "evaluate-abc"),
        made(tmp_path / "tmp" / f"kopt-{'0' * 12}-{dead}-abc"),
        made(tmp_path / "tmp" / "kopt-notes"),
    ]
    with tempdir("work") as own:
        assert own.name.startswith(owned_prefix("work"))
        assert remove_left_tempdirs() == []
        assert own.exists()
    assert all(path.exists() for path in kept)
    assert not own.exists()


def test_it_removes_after_a_day_what_nobody_can_be_asked_about(parent):
    old = made(parent / f"evaluation-{'0' * 12}-1-abc")
    long_ago = time.time() - UNKNOWN_KEPT_S - 60
    os.utime(old, (long_ago, long_ago))
    assert remove_left_tempdirs() == [old]


@pytest.mark.django_db
def test_it_remove_left_tempdirss_when_a_worker_starts(parent, dead):
    left = made(parent / f"evaluation-{host_key()}-{dead}-abc")
    tasks.Heartbeat("tester", None).beat()
    assert not left.exists()
