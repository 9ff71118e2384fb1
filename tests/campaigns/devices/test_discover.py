"""Devices of this host and the platforms that they are."""

import sys
from types import SimpleNamespace

import pytest

from campaigns.devices import discover
from campaigns.devices.discover import DeviceError, devices, ensure_platform, this_device
from knowledge.models import Platform
from tests.kept_wiki import put_wiki


@pytest.fixture
def no_cards(monkeypatch):
    monkeypatch.setattr("campaigns.devices.discover.visible_cards", list)


def test_it_lists_the_cpu_alone_without_cards(no_cards):
    (device,) = devices()
    assert (device.kind, device.device, device.target) == ("cpu", "cpu", "native")
    assert device.memory_bytes > 0
    assert device.platform_slug.startswith("cpu-")


def test_it_lists_cards_in_cudas_order_before_the_cpu(cards):
    found = devices()
    assert [d.device for d in found] == ["cuda:0", "cuda:1", "cpu"]
    assert [d.name for d in found[:2]] == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]
    assert found[0].target == "sm_90a"
    assert found[0].platform_slug == "nvidia-h200"
    assert found[0].detail["driver"] == "580.95.05"


@pytest.mark.parametrize(
    ("capability", "target"),
    [((8, 0), "sm_80"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((10, 0), "sm_100a")],
)
def test_it_names_the_compiler_target(capability, target):
    assert discover.compiler_target(capability) == target


def test_it_measures_on_the_first_card(cards):
    assert this_device().device == "cuda:0"


def test_it_measures_on_the_cpu_when_torch_has_no_cuda(cards, monkeypatch):
    monkeypatch.setattr("campaigns.devices.discover.torch_has_cuda", lambda: False)
    assert this_device().device == "cpu"


def test_it_takes_the_device_that_is_asked_for(cards, settings):
    settings.KOPT_DEVICE = "cpu"
    assert this_device().device == "cpu"
    assert this_device("cuda:1").name == "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize("choice", ["cuda:7", "tpu"])
def test_it_names_the_accepted_devices(cards, choice):
    with pytest.raises(DeviceError, match=r"accepted on this host: cuda:0, cuda:1, cpu$"):
        this_device(choice)


def test_it_refuses_nonsense_in_the_environment(cards, settings):
    settings.KOPT_DEVICE = "gpu"
    with pytest.raises(DeviceError, match=r"KOPT_DEVICE='gpu': accepted are cpu, cuda:0"):
        this_device()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cuda: Optional[str] = None\n", ""),
        ("cuda: Optional[str] = '13.0'\n", "13.0"),
        ("cuda = '12.4'\n", "12.4"),
        ("__version__ = '2.6.0'\n", ""),
    ],
)
def test_it_reads_from_torchs_files_which_cuda_it_has(monkeypatch, tmp_path, text, expected):
    (tmp_path / "version.py").write_text(text)
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    assert discover.torch_cuda() == expected
    assert discover.torch_has_cuda() is bool(expected)


def test_it_sees_no_cuda_without_torch(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert discover.torch_has_cuda() is False


def test_it_never_imports_torch_to_find_devices(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert this_device().kind in ("cpu", "gpu")


def test_r2_it_matches_a_card_with_its_wiki_platform(cards, db):
    put_wiki()
    h200, h100, _ = devices()
    assert ensure_platform(h200).slug == "h200-sxm"
    assert ensure_platform(h100).slug == "h100-sxm5-80gb"


def test_it_never_lets_one_product_answer_for_another(cards, db):
    Platform.objects.create(slug="h100", kind="gpu", aliases=["NVIDIA H100 80GB HBM3"])
    made = ensure_platform(devices()[0])
    assert made.slug == "nvidia-h200"
    assert (made.name, made.vendor, made.target) == ("NVIDIA H200", "NVIDIA", "sm_90a")
    assert made.aliases == ["NVIDIA H200"]
    assert not made.specs.exists()


def test_it_changes_no_platform_that_people_have_edited(cards, db):
    Platform.objects.create(slug="nvidia-h200", name="Ours", kind="gpu", aliases=["H200"])
    assert ensure_platform(devices()[0]).name == "Ours"


def test_it_makes_a_platform_once(no_cards, db):
    device = devices()[0]
    assert ensure_platform(device) == ensure_platform(device)
    assert Platform.objects.get().slug == device.platform_slug
