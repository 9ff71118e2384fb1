"""One process of a host holds a device at a time."""

import os
import platform
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.hold import DeviceBusy, hold, holder

CPU = Device("cpu", "cpu", "Some CPU", "cpu-1", "native", 1, "cpu-1")
GPU = Device("gpu", "cuda:0", "Some GPU", "gpu-1", "sm_90a", 1, "GPU-1")
OTHER = """
import fcntl, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
file.truncate(0); file.write(sys.argv[2]); file.flush()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(name, text):
    """Let another process hold this file until its standard input closes."""
    path = Path(settings.DATA_DIR) / "devices" / name
    path.parent.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(path), text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


@pytest.fixture
def other_process(monkeypatch):
    """Another process of this host holds its CPU."""
    monkeypatch.setattr("campaigns.devices.hold.boot_id", lambda: "boot-1\n")
    with held_elsewhere("cpu-1-boot-1.lock", "4711") as process:
        yield process


def test_it_says_who_holds_and_forgets_after():
    assert holder(CPU) is None
    with hold(CPU):
        assert holder(CPU) == f"process {os.getpid()}"
    assert holder(CPU) is None


def test_it_refuses_a_device_that_another_process_holds(other_process):
    assert holder(CPU) == "process 4711"
    with pytest.raises(DeviceBusy, match=r"cpu \(Some CPU\) is held by process 4711"), hold(CPU):
        pass


def test_it_gets_the_device_when_its_holder_is_killed(other_process):
    other_process.kill()
    with hold(CPU, wait_s=10):
        assert holder(CPU) == f"process {os.getpid()}"


def test_it_keeps_devices_apart(other_process):
    with hold(replace(CPU, uuid="GPU-1")):
        pass


def test_hosts_that_share_the_folder_have_each_their_own_cpu(other_process, monkeypatch):
    monkeypatch.setattr("campaigns.devices.hold.boot_id", lambda: "boot-2\n")
    with hold(CPU):
        pass


def test_a_card_is_one_whoever_sees_it(monkeypatch):
    """As from two containers of its host."""
    monkeypatch.setattr("campaigns.devices.hold.boot_id", lambda: "boot-2\n")
    with held_elsewhere("GPU-1.lock", f"12 {platform.node()}-b"):
        assert holder(GPU) == f"process 12 of {platform.node()}-b"
        with pytest.raises(DeviceBusy, match=r"cuda:0 \(Some GPU\) is held by process 12 of"):
            hold(GPU).__enter__()


def test_it_frees_the_device_after_an_error():
    with pytest.raises(ZeroDivisionError), hold(CPU):
        raise ZeroDivisionError
    assert holder(CPU) is None


def test_it_names_no_file_outside_its_folder():
    with hold(replace(GPU, uuid="../../x")):
        pass
    names = [path.name for path in (Path(settings.DATA_DIR) / "devices").iterdir()]
    assert names == ["______x.lock"]
