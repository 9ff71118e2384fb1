"""Where torch comes from, on every kind of machine."""

import re
import sys

import pytest

from tools import kernels
from tools.kernels import HostTorch, Kernels, Machine, SetupError

PINS = {"torch": "torch==2.13.0", "triton": "triton==3.7.1"}
MACHINE = Machine(sys.executable, sys.executable, PINS)
CPU = ("torch==2.13.0+cpu", "triton==3.7.1")
CUDA = ("torch===2.13.0", "triton==3.7.1")


@pytest.fixture
def machine(monkeypatch):
    """Describe a machine: its own torch, whether it has a card, which indexes have a CPU build."""

    def describe(*, own=None, card=False, configured=False, public=False):
        def is_offered(python, pinned, *index):
            return public if index else configured

        monkeypatch.setattr(kernels, "_host_torch", lambda python: (own, "no torch"))
        monkeypatch.setattr(kernels, "has_nvidia_card", lambda: card)
        monkeypatch.setattr(kernels, "_is_offered", is_offered)
        return MACHINE

    return describe


def test_it_keeps_the_hosts_own_torch(machine):
    own = HostTorch("2.9.0+cu128", "3.5.0", ("/opt/site-packages",))
    choice = kernels.choose(Kernels.AUTO, machine(own=own, card=True, configured=True))
    assert choice.host == own
    assert choice.arguments == ()


def test_it_adds_the_triton_that_an_own_cpu_torch_lacks(machine):
    own = HostTorch("2.9.0+cpu", None, ("/opt/site-packages",))
    choice = kernels.choose(Kernels.AUTO, machine(own=own))
    assert choice.arguments == ("triton==3.7.1",)


def test_it_takes_the_cpu_build_that_pip_offers_on_a_host_without_a_card(machine):
    choice = kernels.choose(Kernels.AUTO, machine(configured=True))
    assert choice.arguments == CPU
    assert "MB" in choice.notice


def test_it_takes_the_cpu_build_of_the_public_index_and_says_so(machine):
    choice = kernels.choose(Kernels.AUTO, machine(public=True))
    assert choice.arguments == ("--extra-index-url", kernels.PUBLIC_CPU_INDEX, *CPU)
    assert kernels.PUBLIC_CPU_INDEX in choice.notice


def test_it_takes_the_cuda_build_on_a_host_with_a_card(machine):
    choice = kernels.choose(Kernels.AUTO, machine(card=True, configured=True))
    assert choice.arguments == CUDA
    assert "3 GB" in choice.notice


def test_it_never_leaves_the_main_job_without_torch_but_says_why_it_is_large(machine):
    choice = kernels.choose(Kernels.AUTO, machine())
    assert choice.arguments == CUDA
    assert re.search(r"has torch==2.13.0\+cpu .*KERNELS=none.* 3 GB", choice.notice)


def test_it_leaves_torch_out_only_when_asked(machine):
    choice = kernels.choose(Kernels.NONE, machine(card=True, configured=True))
    assert choice.arguments == ()
    assert choice.host is None


def test_it_takes_the_cpu_build_beside_a_card_when_asked(machine):
    choice = kernels.choose(Kernels.CPU, machine(card=True, configured=True))
    assert choice.arguments == CPU


@pytest.mark.parametrize("wanted", [Kernels.OWN, Kernels.CPU])
def test_it_refuses_what_is_not_to_be_had(machine, wanted):
    with pytest.raises(SetupError, match=f"^KERNELS={wanted.value}: "):
        kernels.choose(wanted, machine())


@pytest.mark.parametrize(
    ("torch", "triton", "complaint"),
    [
        ("2.6.0", "3.2.0", ""),
        ("2.15.0+cu130", "3.9.0", ""),
        ("2.5.1", "3.2.0", "torch 2.5.1 of .* is older than 2.6"),
        ("2.6.0", "3.1.0", "triton 3.1.0 of .* is older than 3.2"),
    ],
)
def test_it_asks_the_host_python_for_versions(tmp_path, monkeypatch, torch, triton, complaint):
    for name, version in (("torch", torch), ("triton", triton)):
        package = tmp_path / "site-packages" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    host, found = kernels._host_torch(sys.executable)
    assert re.fullmatch(complaint, found)
    assert (host is None) is bool(complaint)
    if host:
        assert host.folders[0] == str(tmp_path / "site-packages")


def test_it_reads_the_index_without_fetching_a_wheel(tmp_path, monkeypatch):
    (tmp_path / "kopt_probe-1.0+cpu-py3-none-any.whl").write_bytes(b"not even a wheel")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert kernels._is_offered(sys.executable, "kopt_probe==1.0+cpu")
    assert not kernels._is_offered(sys.executable, "kopt_probe==1.0")
    assert not kernels._is_offered(sys.executable, "kopt_other==1.0+cpu")
