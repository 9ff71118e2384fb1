"""A judge that is about to time waits for the crews that start their devices."""

from __future__ import annotations

import os
import time

from campaigns.evaluator.service import crew


def test_it_waits_until_no_member_of_a_crew_starts_its_device() -> None:
    file, (read, write) = os.memfd_create("starting"), os.pipe()
    member = os.fork()
    if not member:
        with crew._starting(file):
            os.write(write, b"begun ")
            time.sleep(0.1)
            os.write(write, b"started")
        os._exit(0)
    assert os.read(read, 64) == b"begun "
    crew.await_started(file)
    os.set_blocking(read, False)
    assert os.read(read, 64) == b"started"
    os.waitpid(member, 0)


def test_it_waits_for_none_that_hangs(monkeypatch) -> None:
    monkeypatch.setattr(crew, "STARTS_S", 0.05)
    file, (read, write) = os.memfd_create("starting"), os.pipe()
    member = os.fork()
    if not member:
        with crew._starting(file):
            os.write(write, b"begun")
            time.sleep(60)
        os._exit(0)
    assert os.read(read, 64) == b"begun"
    crew.await_started(file)
    os.kill(member, 9)
    os.waitpid(member, 0)
