"""What keeps profilers from counting: read from texts, told with the command that mends it."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from campaigns.devices import host_profilers
from campaigns.devices.discover import Device
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.host_profilers import (
    COUNTER,
    NO_EVIDENCE,
    cpu_counters,
    field_of,
    ncu_counters,
    nvidia_counters,
    trace_decoder,
)
from campaigns.devices.host_software import State

PARAMS = "RegistryDwords: 1\nRmProfilingAdminOnly: {}\nModifyDeviceFiles: 1\n"
STATUS = "Name:\tpython\nCapPrm:\t0\nCapEff:\t{:016x}\n"
SYS_ADMIN, PERFMON = 1 << 21, 1 << 38
GPU = Device("gpu", "cuda:0", "NVIDIA H200", "x", "sm_90a", 1 << 37, "GPU-1")


def test_it_reads_a_field_of_a_kernel_file():
    assert field_of(PARAMS.format(1), "RmProfilingAdminOnly") == "1"
    assert field_of(PARAMS.format(1), "ProfilingAdminOnly") == ""


@pytest.mark.parametrize(
    ("limited", "capabilities", "driver", "found"),
    [
        ("0", 0, "580.95.05", "allowed for every user"),
        ("1", SYS_ADMIN, "535.1", "allowed for this administrator"),
        ("1", PERFMON, "565.57.01", "allowed by CAP_PERFMON"),
    ],
)
def test_r7_it_tells_who_may_read_gpu_counters(limited, capabilities, driver, found):
    params, status = PARAMS.format(limited), STATUS.format(capabilities)
    told = nvidia_counters(params, status, driver, contained=False)
    assert (told.state, told.found) == (State.OK, found)


@pytest.mark.parametrize(
    ("params", "capabilities", "driver", "found"),
    [
        (PARAMS.format(1), 0, "580.95.05", "only for administrators (ERR_NVGPUCTRPERM)"),
        (PARAMS.format(1), PERFMON, "99.9", "only for administrators (ERR_NVGPUCTRPERM)"),
        ("", SYS_ADMIN, "580.95.05", "the driver does not say"),
    ],
)
def test_r7_it_says_how_gpu_counters_are_allowed(params, capabilities, driver, found):
    status = STATUS.format(capabilities)
    told = nvidia_counters(params, status, driver, contained=False)
    assert (told.state, told.found, told.costs) == (State.MISSING, found, NO_EVIDENCE)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in told.remedy
    assert "--cap-add" not in told.remedy
    inside = nvidia_counters(params, status, driver, contained=True)
    assert inside.remedy.startswith("start the container with --cap-add=SYS_ADMIN, or on its host")


@pytest.mark.parametrize(
    ("said", "state", "found"),
    [
        (f"    {COUNTER}      cycle        3,456\n", State.OK, "ncu counts"),
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access\n",
            State.MISSING,
            "only for administrators (ncu: ERR_NVGPUCTRPERM)",
        ),
        (
            "==PROF== Connected\n==ERROR== LibraryNotLoaded\n",
            State.MISSING,
            "hidden from ncu (LibraryNotLoaded)",
        ),
        (
            "==ERROR== Cuda driver is not compatible with Nsight Compute.\n",
            State.MISSING,
            "ncu: Cuda driver is not compatible with Nsight Compute.",
        ),
        ("==WARNING== No kernels were profiled.\n", State.MISSING, "ncu: it counted nothing"),
        ("", State.MISSING, "ncu: it counted nothing"),
    ],
)
def test_r7_it_reads_what_ncu_says(said, state, found):
    told = ncu_counters(said, contained=False)
    assert (told.state, told.found) == (state, found)
    if state is State.MISSING:
        assert told.costs == NO_EVIDENCE
        assert told.remedy


def test_a_refusal_by_ncu_in_a_container_names_its_option():
    assert (
        "--cap-add=SYS_ADMIN" in ncu_counters("==ERROR== ERR_NVGPUCTRPERM", contained=True).remedy
    )


def test_it_finds_the_trace_decoder_of_rocprof(tmp_path):
    nowhere = {"ROCM_PATH": str(tmp_path)}
    told = trace_decoder(nowhere)
    assert (told.state, told.costs) == (State.MISSING, "no thread traces (ATT)")
    assert "librocprof-trace-decoder.so" in told.remedy
    (tmp_path / "lib").mkdir()
    library = tmp_path / "lib" / "librocprof-trace-decoder.so"
    library.write_text("")
    assert trace_decoder(nowhere).found == str(library)
    named = {"LD_LIBRARY_PATH": f"/nowhere:{library.parent}"}
    assert trace_decoder(named).state is State.OK


COUNTED = "1234567,,cycles,1000,100.00,,\n"
PER_USER = "1234567,,cycles:u,1000,100.00,,\n"
NOT_SUPPORTED = "<not supported>,,cycles,0,100.00,,\n"
NOT_COUNTED = "<not counted>,,cycles,0,0.00,,\n"
DENIED = "Error:\nAccess to performance monitoring and observability operations is limited.\n"
NO_PERF = "WARNING: perf not found for kernel 6.8\n"


@pytest.mark.parametrize("said", [COUNTED, PER_USER, f"# started\n\n{COUNTED}"])
def test_r7_perf_counts_cycles(said):
    told = cpu_counters(said, "2", needed=True)
    assert (told.state, told.found) == (State.OK, "perf counts cycles; perf_event_paranoid = 2")


@pytest.mark.parametrize(
    ("said", "found", "remedy"),
    [
        (None, "perf is not on PATH", "apt-get install linux-perf"),
        (NOT_SUPPORTED, "cycles: <not supported>, as on many virtual machines", "hypervisor"),
        (DENIED, "perf may not count", "sysctl kernel.perf_event_paranoid=1"),
        ("Error: Operation not permitted", "perf may not count", "--cap-add=PERFMON"),
        (NOT_COUNTED, "perf: <not counted>", "perf stat -x, -e cycles true"),
        (NO_PERF, "perf: WARNING: perf not found for kernel 6.8", "perf stat"),
        ("", "perf: it said nothing", "perf stat"),
    ],
)
def test_r7_it_says_why_perf_does_not_count(said, found, remedy):
    told = cpu_counters(said, "4", needed=True)
    assert (told.state, told.costs) == (State.MISSING, NO_EVIDENCE)
    assert told.found == f"{found}; perf_event_paranoid = 4"
    assert remedy in told.remedy
    assert cpu_counters(said, "", needed=False).state is State.NOTE
    assert cpu_counters(said, "", needed=False).found.endswith("; no perf events in this kernel")


def test_it_asks_perf_in_the_language_of_its_reader(monkeypatch):
    asked = []

    def run(command, **options):
        asked.append((command, options["env"]["LC_ALL"]))
        return SimpleNamespace(stdout="", stderr=COUNTED)

    monkeypatch.setattr(host_profilers.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(subprocess, "run", run)
    assert COUNTED in host_profilers.ask_perf()
    assert asked == [(["perf", "stat", "-x,", "-e", "cycles", "true"], "C")]
    monkeypatch.setattr(host_profilers.shutil, "which", lambda name: None)
    assert host_profilers.ask_perf() is None


@pytest.fixture
def ncu(monkeypatch):
    """A host with ncu and a torch for CUDA, whose device is free."""
    monkeypatch.setattr(host_profilers, "toolkit_program", lambda name: f"/opt/{name}")
    monkeypatch.setattr(host_profilers, "torch_has_cuda", lambda: True)

    @contextmanager
    def free(device):
        yield

    monkeypatch.setattr(host_profilers, "hold", free)
    return monkeypatch


def test_r7_it_tries_one_launch_under_ncu(ncu):
    def run(command, **options):
        assert command[:5] == ["/opt/ncu", "--metrics", COUNTER, "--launch-count", "1"]
        assert "device='cuda:0'" in command[-1]
        return SimpleNamespace(stdout=f"{COUNTER} cycle 9", stderr="")

    ncu.setattr(subprocess, "run", run)
    assert host_profilers.try_ncu(GPU, contained=False).state is State.OK


def test_an_ncu_that_hangs_is_told_and_not_waited_for(ncu):
    def hang(command, **options):
        raise subprocess.TimeoutExpired("ncu", options["timeout"])

    ncu.setattr(subprocess, "run", hang)
    told = host_profilers.try_ncu(GPU, contained=False)
    assert told.state is State.MISSING
    assert "timed out after 120.0 seconds" in told.found


def test_it_tries_nothing_on_a_device_that_is_taken(ncu):
    def taken(device):
        raise DeviceBusy("held by process 7")

    ncu.setattr(host_profilers, "hold", taken)
    assert host_profilers.try_ncu(GPU, contained=False) is None
    ncu.setattr(host_profilers, "toolkit_program", lambda name: None)
    assert host_profilers.try_ncu(GPU, contained=False) is None
