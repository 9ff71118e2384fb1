"""The environment is made once, and each thing that is missing gets one clear line."""

import subprocess
import sys

import pytest

from tests.architecture.source_tree import ROOT
from tools import bootstrap
from tools.kernels import HostTorch, Kernels, SetupError


@pytest.fixture
def venv(tmp_path, monkeypatch):
    folder = tmp_path / ".venv"
    monkeypatch.setattr(bootstrap, "VENV", folder)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", folder / "bin" / "python")
    monkeypatch.setattr(bootstrap, "STAMP", folder / "kopt-ready")
    monkeypatch.setattr(bootstrap, "HOST", folder / "kopt-host-python")
    return folder


def test_it_returns_at_once_when_nothing_has_changed(venv, monkeypatch):
    monkeypatch.delenv("KERNELS", raising=False)
    monkeypatch.setattr(bootstrap, "_make_venv", lambda host: pytest.fail("made it again"))
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    (venv / "kopt-ready").write_text(bootstrap._key(Kernels.AUTO))
    bootstrap.main()
    monkeypatch.setenv("KERNELS", "none")
    with pytest.raises(pytest.fail.Exception, match="made it again"):
        bootstrap.main()


def test_it_remembers_the_python_that_made_it(venv, monkeypatch):
    venv.mkdir()
    monkeypatch.setattr(sys, "prefix", str(venv))
    (venv / "kopt-host-python").write_text("/gpu/bin/python")
    assert bootstrap._host_python() == "/gpu/bin/python"
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert bootstrap._host_python() == sys.executable


def test_it_names_the_package_that_makes_virtual_environments(venv, monkeypatch):
    monkeypatch.setattr(bootstrap, "_runs", lambda python, code: False)
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match=rf"apt-get install python{bootstrap.VERSION}-venv"):
        bootstrap._make_venv("python3")
    assert not venv.exists()


def test_it_leaves_no_half_made_environment(venv, monkeypatch):
    def fail(*command):
        venv.mkdir()
        raise SetupError("failed: no space left")

    monkeypatch.setattr(bootstrap, "_run", fail)
    with pytest.raises(SetupError, match="no space left"):
        bootstrap._make_venv("python3")
    assert not venv.exists()


def test_it_names_the_accepted_kernels():
    command = [sys.executable, "-m", "tools.bootstrap"]
    done = subprocess.run(
        command, cwd=ROOT, env={"KERNELS": "gpu"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "setup: KERNELS='gpu': accepted are auto, own, cpu, cuda, none\n"


@pytest.fixture
def installs(venv, monkeypatch):
    """What pip is asked to install, each time with whether the host's packages are in sight."""
    link = bootstrap._site_packages() / "zz_host_packages.pth"
    link.parent.mkdir(parents=True)
    asked = []
    monkeypatch.setattr(bootstrap, "_pip_is_configured", lambda: True)
    monkeypatch.setattr(bootstrap, "_pip", lambda *args: asked.append((link.exists(), args)))
    return asked


def test_it_installs_every_pin_but_torch(installs):
    bootstrap._install_packages(None)
    [(linked, lines)] = installs
    assert not linked
    assert {"numpy==2.4.6", "django==5.2.19", "pytest==9.2.0"} <= set(lines)
    assert not [line for line in lines if line.startswith(("torch", "triton"))]


def test_it_only_completes_what_a_host_with_its_own_torch_owns(installs):
    bootstrap._install_packages(HostTorch("2.9.0", "3.5.0", ("/opt/site-packages",)))
    [(linked, lines), (linked_then, floors)] = installs
    assert (linked, linked_then) == (False, True)
    assert "ruff==0.17.5" in lines
    assert not [line for line in lines if line.startswith("numpy")]
    assert "numpy>=1.26" in floors
