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
    NO_EVIDENCE,
    cpu_counters,
    field_of,
    ncu_counters,
    nvidia_counters,
    trace_decoder,
)
from campaigns.devices.host_software import State
from campaigns.evaluator.contract import Profile
from campaigns.evaluator.profile.ncu import REFUSALS

PARAMS = "RegistryDwords: 1\nRmProfilingAdminOnly: {}\nModifyDeviceFiles: 1\n"
GPU = Device("gpu", "cuda:0", "NVIDIA H200", "x", "sm_90a", 1 << 37, "GPU-1")


def test_it_reads_a_field_of_a_kernel_file():
    assert field_of(PARAMS.format(1), "RmProfilingAdminOnly") == "1"
    assert field_of(PARAMS.format(1), "ProfilingAdminOnly") == ""


def test_r7_it_tells_whether_those_who_are_no_administrators_may_count():
    told = nvidia_counters(PARAMS.format(0))
    assert (told.state, told.found) == (State.OK, "allowed for every user")


@pytest.mark.parametrize(
    ("params", "found"),
    [
        (PARAMS.format(1), "only for administrators (ERR_NVGPUCTRPERM)"),
        ("", "the driver does not say"),
    ],
)
def test_r7_it_says_how_gpu_counters_are_allowed(params, found):
    told = nvidia_counters(params)
    assert (told.state, told.found, told.costs) == (State.MISSING, found, NO_EVIDENCE)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in told.remedy


@pytest.mark.parametrize(
    ("note", "remedy"),
    [
        (REFUSALS["ERR_NVGPUCTRPERM"], "NVreg_RestrictProfilingToAdminUsers=0"),
        (REFUSALS["LibraryNotLoaded"], "profile on another one"),
        ("exit status 1: nsight-compute directory is not found", "run `ncu` as another user"),
    ],
)
def test_r7_it_says_why_a_kernel_was_not_counted(note, remedy):
    told = ncu_counters(Profile("ncu", "1024", note=note))
    assert (told.state, told.found, told.costs) == (State.MISSING, note, NO_EVIDENCE)
    assert remedy in told.remedy


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
    """A host with ncu and a torch for CUDA, whose device is free; what is counted there."""
    monkeypatch.setattr(host_profilers, "toolkit_program", lambda name: f"/opt/{name}")
    monkeypatch.setattr(host_profilers, "torch_has_cuda", lambda: True)

    @contextmanager
    def free(device):
        yield

    monkeypatch.setattr(host_profilers, "hold", free)
    return monkeypatch


def test_r7_it_counts_a_kernel_as_a_candidates_is(ncu):
    def count(job, report, service):
        # The evaluator makes it, and takes none that is there.
        assert job.scratch.parent.is_dir()
        assert not job.scratch.exists()
        assert (job.problem.name, job.backend, job.device) == ("vector_add", "cuda", "cuda:0")
        return Profile("ncu", "1024", text="counted")

    ncu.setattr(host_profilers, "count_kernels", count)
    told = host_profilers.try_ncu(GPU)
    assert (told.state, told.found) == (State.OK, "ncu counts where kernels run")


def test_an_evaluator_that_does_not_start_is_told(ncu):
    def fail(job, report, service):
        raise OSError(None, "the evaluator service did not start", "/run/x")

    ncu.setattr(host_profilers, "count_kernels", fail)
    told = host_profilers.try_ncu(GPU)
    assert told.state is State.MISSING
    assert "did not start" in told.found


def test_it_tries_nothing_on_a_device_that_is_taken(ncu):
    def taken(device):
        raise DeviceBusy("held by process 7")

    ncu.setattr(host_profilers, "hold", taken)
    assert host_profilers.try_ncu(GPU) is None
    ncu.setattr(host_profilers, "toolkit_program", lambda name: None)
    assert host_profilers.try_ncu(GPU) is None
