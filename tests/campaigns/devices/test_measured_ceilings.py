"""Ceilings measured in a process of their own and stored as a cited document."""

import subprocess
from types import SimpleNamespace

import pytest

from campaigns.devices import passport
from campaigns.devices.discover import devices, platform_facts
from campaigns.evaluator.ceilings.result import CeilingsError, dump
from knowledge.exchange.check import check_wiki
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings
from knowledge.models import Document, Platform
from tests.kept_wiki import put_wiki


@pytest.fixture
def measured(monkeypatch, result):
    """Let every measurement answer `result`; the commands that were run come back."""
    commands = []

    def run(command, **options):
        commands.append((command, options))
        return SimpleNamespace(returncode=0, stdout=dump(result), stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_it_stores_the_cpus_document_with_its_platform(db, measured):
    cpu = devices()[-1]
    measurement = passport.measure_ceilings(cpu)
    revision = measurement.revision
    platform = Platform.objects.get(slug=cpu.platform_slug)
    assert revision.document.path == f"docs/measured/{platform.slug}.md"
    assert str(platform_facts(cpu)) in revision.text
    assert measurement.notes == ("the caches may have helped",)
    (bandwidth,) = bandwidth_ceilings(platform)
    assert (bandwidth.value, bandwidth.unit) == (46.71e9, "B/s")
    assert bandwidth.evidence == "measured"
    assert bandwidth.citation.startswith(
        f"copy_bandwidth: 46.71 GB/s <- <gpu-wiki>/docs/measured/{platform.slug}.md:L"
    )
    assert compute_ceilings(platform, "float32")[0].value == 128.1e9


def test_it_measures_outside_this_process_and_in_the_order_of_the_bus(db, measured):
    passport.measure_ceilings(devices()[-1])
    ((command, options),) = measured
    assert command[1:] == ["-m", "campaigns.evaluator.ceilings", "--device", "cpu", "--json"]
    assert options["env"]["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert "DATABASE_URL" not in options["env"]


def test_r5_it_measures_copies_alone_and_stores_nothing(db, measured, result):
    assert passport.measured_now(devices()[-1], 4096) == result
    ((command, _),) = measured
    assert command[-3:] == ["--json", "--array-bytes", "4096"]
    assert not Document.objects.exists()


def test_it_adds_a_cards_measurements_to_its_wiki_platform(db, measured, cards):
    put_wiki()
    passport.measure_ceilings(devices()[0])
    platform = Platform.objects.get(slug="h200-sxm")
    assert [c.metric for c in bandwidth_ceilings(platform)] == [
        "copy_bandwidth",
        "memory_bandwidth",
    ]
    assert check_wiki() == []


def test_it_stores_nothing_when_measuring_fails(db, monkeypatch):
    failed = SimpleNamespace(returncode=1, stdout="", stderr="warning\nceilings: no compiler\n")
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: failed)
    with pytest.raises(CeilingsError, match=r"^no compiler$"):
        passport.measure_ceilings(devices()[-1])
    assert not Document.objects.exists()


def test_it_gives_up_on_a_measurement_that_hangs(monkeypatch):
    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(CeilingsError, match="cpu: not measured within 300 s"):
        passport.run_ceilings("cpu")
