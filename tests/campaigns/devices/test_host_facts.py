"""What a passport holds under: read from the host and the driver, never made up."""

from contextlib import contextmanager
from dataclasses import replace

import pynvml
import pytest

from campaigns.devices import nvml, passport
from campaigns.devices.passport import PassportFails, take
from tests.campaigns.steps import cast

CARD = replace(cast.DEVICE, kind="gpu", device="cuda:0", uuid="GPU-1", detail={"driver": "580.1"})


@pytest.fixture
def driver(monkeypatch):
    """A driver that knows one card; a test may take a function of it away."""

    @contextmanager
    def session():
        yield True

    monkeypatch.setattr(nvml, "session", session)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda uuid: uuid)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMaxClockInfo", lambda card, which: 1980)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetEnforcedPowerLimit", lambda card: 700_000)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetApplicationsClock", lambda card, which: 1755)


def refuse(*anything):
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def test_it_tells_a_cards_clock_policy_and_driver(driver, monkeypatch):
    facts = passport.host_facts(CARD)
    assert facts["driver"] == "580.1"
    assert facts["clock policy"] == "at most 1980 MHz, set 1755 MHz, 700 W"
    monkeypatch.setattr(pynvml, "nvmlDeviceGetApplicationsClock", refuse)
    assert "set the driver's choice" in nvml.clock_policy("GPU-1")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMaxClockInfo", refuse)
    assert nvml.clock_policy("GPU-1") == "unknown"


def test_it_tells_a_cpus_governor_or_that_none_is_shown(monkeypatch, tmp_path):
    governor = tmp_path / "scaling_governor"
    monkeypatch.setattr(passport, "GOVERNOR", governor)
    assert "hidden" in passport.host_facts(cast.DEVICE)["clock policy"]
    governor.write_text("performance\n")
    assert passport.host_facts(cast.DEVICE)["clock policy"] == "governor performance"


def test_a_passport_wants_times(tmp_path):
    judge = cast.Judge()
    real = judge.evaluate

    def untimed(job, beat=None):
        report = real(job, beat)
        return replace(report, cases=tuple(replace(c, candidate=None) for c in report.cases))

    judge.evaluate = untimed
    with pytest.raises(PassportFails, match="vector_add, cpp: was not timed on Test CPU"):
        take(cast.DEVICE, judge, tmp_path / "scratch")
