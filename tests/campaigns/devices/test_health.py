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


def _tools(monkeypatch, present, *, has_gpu=False):
    monkeypatch.setattr(host_software, "said_by", lambda name, *arguments: present.get(name))
    return {found.name: found for found in host_software.examine_tools(has_gpu=has_gpu)}


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

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def _permissions(devices=(CPU,)):
    return {found.name: found for found in host_health.examine_permissions(list(devices))}


@pytest.mark.parametrize(
    ("limited", "capabilities", "state"),
    [
        ("1", "0000000000000000", State.MISSING),
        ("1", "000001ffffffffff", State.OK),
        ("0", "0000000000000000", State.OK),
    ],
)
def test_it_tells_whether_gpu_counters_may_be_read(kernel, limited, capabilities, state):
    kernel("proc/driver/nvidia/params", f"Other: 3\nRmProfilingAdminOnly: {limited}\n")
    kernel("proc/self/status", f"Name:\tx\nCapEff:\t{capabilities}\n")
    assert _permissions([GPU])["GPU counters"].state is state


def test_it_does_not_guess_the_permission_for_gpu_counters(kernel):
    assert _permissions([GPU])["GPU counters"].state is State.MISSING
    assert "GPU counters" not in _permissions([CPU])


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


def _services(devices=(CPU,)):
    return {found.name: found for found in host_health.examine_services(list(devices))}


@pytest.mark.django_db
def test_it_reaches_database_and_broker():
    found = _services()
    assert found["database"].state is State.OK
    assert found["broker"].state is State.OK
    assert found["device cpu"].found.startswith("Some CPU, 8 GiB, native")


def test_it_says_that_a_broker_of_that_kind_is_unknown(monkeypatch):
    connect = partial(Connection, "no-such-kind://host")
    monkeypatch.setattr(host_health.current_app, "connection_for_write", connect)
    found = host_health._broker()
    assert (found.state, found.found) == (State.REQUIRED, "No such transport: no-such-kind")


@pytest.mark.django_db
def test_it_notes_a_torch_that_cannot_use_the_card(monkeypatch):
    monkeypatch.setattr(host_health, "torch_has_cuda", lambda: False)
    assert _services([GPU, CPU])["torch for CUDA"].state is State.MISSING
    monkeypatch.setattr(host_health, "torch_has_cuda", lambda: True)
    assert "torch for CUDA" not in _services([GPU, CPU])


@pytest.mark.django_db
def test_it_needs_disk_and_would_like_shared_memory(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(1 << 26, 0, 1 << 26))
    found = _services()
    assert found["disk"].state is State.REQUIRED
    assert found["shared memory"].state is State.MISSING
    assert "--shm-size=2g" in found["shared memory"].remedy
