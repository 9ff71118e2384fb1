"""What an installation is told while it is made usable."""

import pytest

from campaigns.devices.discover import devices, ensure_platform
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.passport import Measured
from campaigns.management import prepare
from knowledge.exchange.importer import write_measured_document
from knowledge.models import Document


@pytest.fixture
def told(db, monkeypatch):
    """Prepare the CPU of this host with `measure` in the place of measuring; what was told."""

    def go(measure):
        lines = []
        monkeypatch.setattr(prepare, "measure_ceilings", measure)
        prepare.prepare_platform(devices()[-1], lines.append, always_measured=True)
        return lines

    return go


def test_it_passes_on_what_weakens_the_ceilings(told):
    lines = told(lambda device: Measured(None, ("the host was busy",)))
    assert lines[-1] == "note: the host was busy"


def test_it_goes_on_without_ceilings_and_says_what_follows(told):
    def fail(device):
        raise DeviceBusy("cpu is held")

    assert told(fail)[-1] == (
        "not measured: cpu is held; without ceilings a target is UNKNOWN (gpu-wiki not found)"
    )


def test_it_measures_here_though_the_wiki_brought_a_measurement(told):
    device = devices()[-1]
    slug = ensure_platform(device).slug
    source = "evidence=measured | kind=measured | rank=preferred | source=measured on another card"
    specs = f"## Specs\n\n- copy_bandwidth: 10 GB/s | {source}\n"
    text = f"# M\n\n## Platform\n\n- platform: {slug}\n\n{specs}"
    path = f"docs/measured/{slug}.md"
    write_measured_document(path, text)
    assert told(pytest.fail) == []
    Document.objects.filter(path=path).update(origin="shipped")
    assert told(lambda device: Measured(None, ()))[0].startswith("measuring the ceilings")
