"""The environment is made once, and each thing that is missing gets one clear line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tools import bootstrap
from tools.kernels import Kernels, SetupError


@pytest.fixture
def venv(tmp_path, monkeypatch):
    folder = tmp_path / ".venv"
    monkeypatch.setattr(bootstrap, "VENV", folder)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", folder / "bin" / "python")
    monkeypatch.setattr(bootstrap, "STAMP", folder / "kopt-ready")
    return folder


def test_it_returns_at_once_when_nothing_has_changed(venv, monkeypatch):
    monkeypatch.delenv("KERNELS", raising=False)
    monkeypatch.setattr(bootstrap, "_make_venv", lambda: pytest.fail("made it again"))
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    (venv / "kopt-ready").write_text(bootstrap._key(Kernels.AUTO))
    bootstrap.main()
    monkeypatch.setenv("KERNELS", "none")
    with pytest.raises(pytest.fail.Exception, match="made it again"):
        bootstrap.main()


def test_it_names_the_package_that_makes_virtual_environments(venv, monkeypatch):
    monkeypatch.setattr(bootstrap, "_runs", lambda python, code: False)
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match=rf"apt-get install python{bootstrap.VERSION}-venv"):
        bootstrap._make_venv()
    assert not venv.exists()


def test_it_leaves_no_half_made_environment(venv, monkeypatch):
    def fail(*command):
        venv.mkdir()
        raise SetupError("failed: no space left")

    monkeypatch.setattr(bootstrap, "_run", fail)
    with pytest.raises(SetupError, match="no space left"):
        bootstrap._make_venv()
    assert not venv.exists()


def test_it_names_the_accepted_kernels():
    command = [sys.executable, "-m", "tools.bootstrap"]
    done = subprocess.run(
        command, cwd=ROOT, env={"KERNELS": "gpu"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "setup: KERNELS='gpu': accepted are auto, own, cpu, cuda, none\n"


def test_it_installs_floors_instead_of_pins_beside_the_hosts_torch(monkeypatch):
    listings = []
    monkeypatch.setattr(bootstrap, "_pip_is_configured", lambda: True)
    monkeypatch.setattr(
        bootstrap, "_pip", lambda *args: listings.append(Path(args[-1]).read_text().split())
    )
    bootstrap._install_packages(beside_host=False)
    bootstrap._install_packages(beside_host=True)
    pinned, beside = listings
    assert "numpy==2.4.6" in pinned
    assert "numpy>=1.26" in beside
    assert "pytest==9.2.0" in beside
    assert not [line for line in pinned + beside if line.startswith(("torch", "triton"))]
