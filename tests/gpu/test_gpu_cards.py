"""On a host of several GPUs each runner has its own, and reaches no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.discover import Device, devices
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Job, Limits, Outcome, Protocol, Source
from campaigns.evaluator.contract.problem_reader import load_problem

ADD = Path(__file__).parents[2] / "campaigns" / "problems" / "vector_add"
PROTOCOL = Protocol(blocks=2, trials=2, limits=Limits(call_s=5))
BUS = "the bus"
# Right only where the card at BUS is the only one, by CUDA and by the nodes.
LOOK = """
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

static bool is_alone() {
    int counted = 0, opened = 0;
    char node[32], bus[32] = "";
    cudaGetDeviceCount(&counted);
    cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
    for (int minor = 0; minor < 32; ++minor) {
        snprintf(node, sizeof node, "/dev/nvidia%d", minor);
        int file = open(node, O_RDWR);
        if (file < 0) continue;
        ++opened;
        close(file);
    }
    const char* wanted = "the bus";
    bool is_there = !strcasecmp(bus + strlen(bus) - strlen(wanted), wanted);
    return counted == 1 && opened <= 1 && is_there;
}

"""


def gpus() -> list[Device]:
    return [device for device in devices() if device.kind == "gpu"]


def looking_around(device: Device, scratch: Path) -> Job:
    """A sum that is only made where the runner sees what it should."""
    job = v0_job(device, load_problem(ADD), "cuda", scratch, PROTOCOL)
    # The driver's library writes more digits of the domain than CUDA does.
    look = LOOK.replace(BUS, device.detail["PCI bus"][-7:])
    text = job.candidate.text.replace('extern "C"', f'{look}extern "C"')
    text = text.replace("    add_values<<<", "    if (is_alone()) add_values<<<")
    return replace(job, candidate=Source("alone.cu", text), incumbent=None, cases=job.cases[:1])


@pytest.mark.gpu
def test_it_gives_each_runner_its_own_card_and_no_other(tmp_path):
    with EvaluatorService() as service:
        for device in gpus():
            report = service.evaluate(looking_around(device, tmp_path / "scratch"))
            assert report.outcome is Outcome.PASSED, f"{device.device}: {report.reason}"


@pytest.mark.gpu
@pytest.mark.skipif(len(gpus()) < 2, reason="there is no other card")
def test_a_runner_that_is_not_told_its_card_finds_more(tmp_path, monkeypatch):
    monkeypatch.setattr("campaigns.devices.launch.visible_cards", list)
    with EvaluatorService() as service:
        report = service.evaluate(looking_around(gpus()[0], tmp_path / "scratch"))
    assert report.outcome is Outcome.WRONG_RESULT


@pytest.mark.gpu
def test_it_leaves_nothing_of_a_device_in_shared_memory(tmp_path):
    """Neither of the processes of a job nor of those that wait for the next one."""
    device = gpus()[0]

    def shared():
        """CUDA's files, and those in which torch counts the users of a memory."""
        names = (path.name for path in Path("/dev/shm").iterdir())
        return {name for name in names if name.startswith(("cuda.shm.", "torch_"))}

    with EvaluatorService() as service:
        job = v0_job(device, load_problem(ADD), "cuda", tmp_path / "scratch", PROTOCOL)
        job = replace(job, incumbent=None, cases=job.cases[:1])
        assert service.evaluate(job).outcome is Outcome.PASSED
        before = shared()
        assert service.evaluate(job).outcome is Outcome.PASSED
    assert shared() <= before
