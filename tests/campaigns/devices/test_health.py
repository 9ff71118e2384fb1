"""What doctor looks at: versions as numbers, what is required, what the kernel allows."""

import json
import subprocess
from collections import namedtuple
from dataclasses import replace
from functools import partial
from importlib import metadata

import pytest
from kombu import Connection

from campaigns.devices import host_health, host_software
from campaigns.devices.discover import Device
from campaigns.devices.host_software import HealthFinding, State, at_least, said_by, version_numbers
from campaigns.devices.launch import InterpreterFailed
from campaigns.evaluator.sandbox import policy
from tests.campaigns.devices.conftest import H100, H200

CPU = Device("cpu", "cpu", "Some CPU", "cpu-1", "native", 1 << 33, "cpu-1")
GPU = Device("gpu", "cuda:0", "NVIDIA H200", "x", "sm_90a", 1 << 37, "GPU-1")
Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", (12, 2, 0)),
        ("2.13.0+cpu", (2, 13, 0)),
        ("Cuda compilation tools, release 13.0, V13.0.88", (13, 0)),
        ("version 7", (7,)),
        ("none", ()),
    ],
)
def test_it_reads_versions_as_numbers(text, numbers):
    assert version_numbers(text) == numbers


def test_r7_it_compares_versions_as_numbers_and_not_as_text():
    assert at_least("2.13.0+cpu", (2, 6))
    assert not at_least("2.5.1", (2, 6))
    assert not at_least("it said nothing", (1,))


def test_it_asks_a_program_for_its_version(monkeypatch):
    assert said_by("no-such-program-here", "--version") is None
    assert "Python 3" in said_by("python3", "--version")

    def never(*arguments, **options):
        raise subprocess.TimeoutExpired("x", 20)

    monkeypatch.setattr(subprocess, "run", never)
    assert said_by("python3", "--version").startswith("does not run")


def test_it_says_what_a_missing_thing_costs_and_how_to_get_it():
    lines = str(HealthFinding("ncu", State.MISSING, "not on PATH", "no counters", "install it"))
    assert lines.splitlines() == [
        "missing  ncu: not on PATH",
        "         costs: no counters",
        "         get it: install it",
    ]
    assert str(HealthFinding("git", State.OK, "2.39")) == "ok       git: 2.39"


def _tools(monkeypatch, present, *, has_gpu=False, has_amd=False):
    monkeypatch.setattr(host_software, "said_by", lambda name, *arguments: present.get(name))
    packages = host_software.examine_packages(has_gpu=has_gpu)
    programs = host_software.examine_programs(has_gpu=has_gpu, has_amd=has_amd)
    return {found.name: found for found in (*packages, *programs)}


def test_it_needs_a_compiler_where_there_is_no_gpu(monkeypatch):
    assert _tools(monkeypatch, {})["C++ compiler"].state is State.REQUIRED
    assert _tools(monkeypatch, {}, has_gpu=True)["C++ compiler"].state is State.MISSING
    assert _tools(monkeypatch, {"g++": "g++ 4.8.5"})["C++ compiler"].state is State.REQUIRED
    assert _tools(monkeypatch, {"clang++": "clang 14.0.6"})["C++ compiler"].state is State.OK


def test_it_asks_for_cuda_tools_only_beside_a_gpu(monkeypatch):
    assert _tools(monkeypatch, {})["ncu"].state is State.NOTE
    assert _tools(monkeypatch, {}, has_gpu=True)["ncu"].state is State.MISSING
    old = _tools(monkeypatch, {"nvcc": "release 11.8, V11.8.89"}, has_gpu=True)["nvcc"]
    assert (old.state, old.found) == (State.MISSING, "release 11.8, V11.8.89, older than 12.0")


def test_it_asks_for_rocm_only_beside_an_amd_gpu(monkeypatch):
    found = _tools(monkeypatch, {}, has_gpu=True)["rocprofv3"]
    assert (found.state, found.found) == (
        State.NOTE,
        "not on PATH; not needed without an AMD GPU",
    )
    lacking = _tools(monkeypatch, {"hipcc": "HIP version: 5.7.1"}, has_amd=True)
    assert lacking["hipcc"].found == "HIP version: 5.7.1, older than 6.0"
    assert lacking["rocprofv3"].costs.startswith("no profile evidence")
    assert "rocm.docs.amd.com" in lacking["rocprofv3"].remedy
    there = _tools(monkeypatch, {"rocprofv3": "version: 0.10.0"}, has_amd=True)["rocprofv3"]
    assert there.state is State.OK


def test_it_looks_for_programs_where_the_toolkits_are(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hipcc"
    program.write_text("#!/bin/sh\necho HIP version: 6.2.41133\n")
    program.chmod(0o755)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert said_by("hipcc", "--version") == "HIP version: 6.2.41133"


@pytest.mark.parametrize(
    ("version", "state"), [("2.13.0+cpu", State.OK), ("2.5.1", State.REQUIRED), (None, "required")]
)
def test_it_needs_a_torch_that_is_new_enough(monkeypatch, version, state):
    def answer(name):
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", answer)
    assert _tools(monkeypatch, {})["torch"].state == state


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """Give the probes another /proc and /sys; write a file with kernel("proc/x", text)."""
    monkeypatch.setattr(host_health, "PROC", tmp_path / "proc")
    monkeypatch.setattr(host_health, "SYS", tmp_path / "sys")
    monkeypatch.setattr(host_health, "ask_perf", lambda: None)
    monkeypatch.setattr(host_health, "try_ncu", lambda device: None)

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def _permissions(devices=(CPU,), amd=()):
    rows = host_health.examine_permissions(list(devices), list(amd))
    return {found.name: found for found in rows}


@pytest.mark.parametrize(("limited", "state"), [("1", State.MISSING), ("0", State.OK)])
def test_it_tells_whether_gpu_counters_may_be_read(kernel, limited, state):
    kernel("proc/driver/nvidia/params", f"Other: 3\nRmProfilingAdminOnly: {limited}\n")
    assert _permissions([GPU])["GPU counters"].state is state


def test_it_does_not_guess_the_permission_for_gpu_counters(kernel):
    assert _permissions([GPU])["GPU counters"].state is State.MISSING
    assert "GPU counters" not in _permissions([CPU])


@pytest.mark.parametrize(
    ("params", "word"), [("RmProfilingAdminOnly: 1", None), ("RmProfilingAdminOnly: 0", "tried")]
)
def test_r7_it_tries_what_the_driver_does_not_refuse(kernel, monkeypatch, params, word):
    kernel("proc/driver/nvidia/params", params)
    tried = HealthFinding("GPU counters", State.MISSING, "tried")
    monkeypatch.setattr(host_health, "try_ncu", lambda device: tried)
    assert (_permissions([GPU, CPU])["GPU counters"].found == "tried") is (word is not None)
    kernel("proc/driver/nvidia/params", "")
    assert _permissions([GPU, CPU])["GPU counters"] == tried


def test_it_needs_counters_of_the_cpu_where_kernels_run_on_it(kernel):
    kernel("proc/sys/kernel/perf_event_paranoid", "2\n")
    found = _permissions([CPU])["CPU counters"]
    assert (found.state, found.found) == (
        State.MISSING,
        "perf is not on PATH; perf_event_paranoid = 2",
    )
    assert _permissions([GPU, CPU])["CPU counters"].state is State.NOTE


def test_it_looks_for_the_trace_decoder_beside_an_amd_gpu(kernel):
    assert "trace decoder of rocprofv3" not in _permissions([CPU])
    assert "trace decoder of rocprofv3" in _permissions([CPU], [GPU])


def test_it_records_clocks_and_what_bounds_them(kernel, monkeypatch):
    kernel("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
    monkeypatch.setattr(host_health.nvml, "clock_mhz", lambda uuid: 1980)
    monkeypatch.setattr(host_health.nvml, "clock_policy", lambda uuid: "at most 1980 MHz")
    words = [(one.state, one.found) for one in host_health.examine_clocks([GPU, CPU])]
    assert words == [
        (State.NOTE, "1980 MHz now; policy: at most 1980 MHz"),
        (State.NOTE, "governor performance"),
    ]


@pytest.mark.parametrize(
    ("driver", "torch", "state"),
    [
        ("13.0", "13.0", State.OK),
        ("13.0", "12.8", State.OK),
        ("12.4", "12.8", State.OK),
        ("9.9", "10.2", State.MISSING),
        ("", "12.8", State.OK),
        ("13.0", "", State.MISSING),
    ],
)
def test_r7_it_compares_the_cuda_of_torch_with_the_drivers(driver, torch, state):
    found = host_health.cuda_match(driver, torch)
    assert found.state is state
    assert bool(found.remedy) is (state is State.MISSING)


def _sandbox(monkeypatch, settings, lacks, *, require="AVAILABLE"):
    settings.KOPT_SANDBOX = require
    found = {"root": True, "holds": {"network": "", "landlock": "7"}, "lacks": lacks}
    found |= {"no_watching": "", "memory_mib": 512, "memory_by": "watch"}
    answer = json.dumps({"cpu": found})
    monkeypatch.setattr(host_health, "ask_interpreter", lambda arguments, limit_s: answer)
    return {found.name: found for found in host_health.examine_sandbox([CPU])}


def test_it_names_the_layers_of_the_sandbox(monkeypatch, settings):
    found = _sandbox(monkeypatch, settings, {})
    assert found["sandbox, cpu"].state is State.OK
    assert found["sandbox, cpu"].found.startswith("network, landlock 7; memory 512 MiB")


@pytest.mark.parametrize(
    ("require", "state"), [("AVAILABLE", State.MISSING), ("ALL", State.REQUIRED)]
)
def test_it_says_what_a_missing_layer_costs(monkeypatch, settings, require, state):
    found = _sandbox(monkeypatch, settings, {"seccomp": "none"}, require=require)
    missing = found["sandbox, cpu: seccomp"]
    assert (missing.state, missing.found) == (state, "none")
    assert "CONFIG_SECCOMP_FILTER" in missing.remedy


def test_it_says_what_an_ordinary_users_gpu_is_exposed_to(monkeypatch, settings):
    lacks = {"mounts": "not used with CUDA by an ordinary user"}
    found = {"root": False, "holds": {"landlock": "7"}, "lacks": lacks, "no_watching": "held by"}
    answer = json.dumps({"cuda": found | {"memory_mib": 512, "memory_by": "watch"}})
    monkeypatch.setattr(host_health, "ask_interpreter", lambda arguments, limit_s: answer)
    said = {found.name: found for found in host_health.examine_sandbox([GPU])}
    assert said["sandbox, cuda: mounts"].state is State.MISSING
    assert "what the worker's user may" in said["sandbox, cuda: mounts"].costs
    assert said["sandbox, cuda: sanitizers"].state is State.MISSING
    assert said["sandbox, cuda: sanitizers"].found == "held by"


@pytest.mark.parametrize(
    ("minors", "require", "state"),
    [
        ((0, 2), "AVAILABLE", State.OK),
        ((0, 7), "AVAILABLE", State.MISSING),
        ((0, None), "ALL", State.REQUIRED),
    ],
)
def test_it_says_whether_a_runner_has_its_own_card_alone(
    monkeypatch, settings, tmp_path, minors, require, state
):
    monkeypatch.setattr(policy, "DEV", tmp_path)
    for number in (0, 2):
        (tmp_path / f"nvidia{number}").symlink_to("/dev/null")
    listed = [replace(H200, minor=minors[0]), replace(H100, minor=minors[1])]
    monkeypatch.setattr(host_health, "visible_cards", lambda: listed)
    found = _sandbox(monkeypatch, settings, {}, require=require)["sandbox, cuda: other cards"]
    assert found.state is state
    assert (H100.uuid in found.found) is (state is not State.OK)


def test_it_says_nothing_of_other_cards_where_there_are_none(monkeypatch, settings):
    monkeypatch.setattr(host_health, "visible_cards", lambda: [H200])
    assert "sandbox, cuda: other cards" not in _sandbox(monkeypatch, settings, {})


def test_it_tries_the_sandbox_of_this_host():
    found = host_health.examine_sandbox([CPU])
    assert found[0].name == "sandbox, cpu"
    assert "MiB" in found[0].found


def test_it_says_that_the_sandbox_could_not_be_tried(monkeypatch):
    def fail(arguments, limit_s):
        raise InterpreterFailed("no such module")

    monkeypatch.setattr(host_health, "ask_interpreter", fail)
    assert host_health.examine_sandbox([CPU])[0].state is State.REQUIRED


def _services():
    return {found.name: found for found in host_health.examine_services()}


def _devices(*found, amd=()):
    return {one.name: one for one in host_health.examine_devices(list(found), list(amd))}


@pytest.mark.django_db
def test_it_reaches_database_and_broker():
    found = _services()
    assert found["database"].state is State.OK
    assert found["broker"].state is State.OK


def test_it_says_that_a_broker_of_that_kind_is_unknown(monkeypatch):
    connect = partial(Connection, "no-such-kind://host")
    monkeypatch.setattr(host_health.current_app, "connection_for_write", connect)
    found = host_health._broker()
    assert (found.state, found.found) == (State.REQUIRED, "No such transport: no-such-kind")


def test_it_names_devices_with_the_toolkit_that_drives_them(monkeypatch, tmp_path):
    assert _devices(CPU)["device cpu"].found.startswith("Some CPU, 8 GiB, native")
    assert "CUDA" not in _devices(CPU)
    monkeypatch.setattr(host_health, "torch_cuda", lambda: "")
    assert _devices(GPU, CPU)["CUDA"].state is State.MISSING
    monkeypatch.setattr(host_health, "torch_cuda", lambda: "13.0")
    assert _devices(GPU, CPU)["CUDA"].state is State.OK
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info" / "version").write_text("6.4.1\n")
    found = _devices(CPU, amd=[replace(GPU, device="amd:0")])
    assert (found["ROCm"].found, found["device amd:0"].state) == ("6.4.1", State.NOTE)


@pytest.mark.django_db
def test_it_needs_disk_and_would_like_shared_memory(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(1 << 26, 0, 1 << 26))
    found = _services()
    assert found["disk"].state is State.REQUIRED
    assert found["shared memory"].state is State.MISSING
    assert "--shm-size=2g" in found["shared memory"].remedy
