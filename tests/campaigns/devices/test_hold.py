"""One process of a host holds a device at a time."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.discover import Device
from campaigns.devices.hold import DeviceBusy, hold, holder

CPU = Device("cpu", "cpu", "Some CPU", "cpu-1", "native", 1, "cpu-1")
OTHER = """
import fcntl, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
file.truncate(0); file.write("4711"); file.flush()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_process(settings):
    """Let another process hold the device until its standard input closes."""
    path = Path(settings.DATA_DIR) / "devices/cpu-1.lock"
    path.parent.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


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


def test_it_frees_the_device_after_an_error():
    with pytest.raises(ZeroDivisionError), hold(CPU):
        raise ZeroDivisionError
    assert holder(CPU) is None


def test_it_names_no_file_outside_its_folder(settings):
    with hold(replace(CPU, uuid="../../x")):
        pass
    names = [path.name for path in (Path(settings.DATA_DIR) / "devices").iterdir()]
    assert names == ["______x.lock"]
