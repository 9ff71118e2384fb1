"""Make .venv ready. Uses the standard library only; `make` runs it before everything else.

The first run says what it downloads, installs it, and then writes a hash of what it depends on. A
later run compares the hash and returns.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools import kernels
from tools.kernels import HostTorch, Kernels, SetupError

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "kopt-ready"
HOST = VENV / "kopt-host-python"
REQUIREMENTS = ROOT / "requirements.txt"
WORKER_REQUIREMENTS = ROOT / "requirements-worker.txt"

PYTHONS = ((3, 11), (3, 12), (3, 13))
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def main() -> None:
    value = os.environ.get("KERNELS") or Kernels.AUTO.value
    if value not in {kind.value for kind in Kernels}:
        accepted = ", ".join(kind.value for kind in Kernels)
        raise SetupError(f"KERNELS={value!r}: accepted are {accepted}")
    wanted = Kernels(value)
    _need_supported_python()
    key = _key(wanted)
    if VENV_PYTHON.exists() and STAMP.exists() and STAMP.read_text() == key:
        return
    STAMP.unlink(missing_ok=True)
    host = _host_python()
    _make_venv(host)
    HOST.write_text(host)
    pins = {name: _lines(REQUIREMENTS)[name] for name in kernels.PACKAGES}
    choice = kernels.choose(wanted, kernels.Machine(host, str(VENV_PYTHON), pins))
    _say("installing the web server, worker and test packages (on a first run it fetches 150 MB)")
    _install_packages(choice.host)
    _say(choice.notice)
    if choice.arguments:
        _pip("install", *choice.arguments)
    STAMP.write_text(key)
    _say("ready")


def _need_supported_python() -> None:
    """Start again under another installed Python when this one is too old or too new."""
    if sys.version_info[:2] in PYTHONS:
        return
    for major, minor in PYTHONS:
        other = shutil.which(f"python{major}.{minor}")
        if other and _runs(other, ""):
            os.execv(other, [other, "-m", "tools.bootstrap"])
    raise SetupError(
        f"Python 3.11, 3.12 or 3.13 is needed and {VERSION} was found;"
        " install one, or name it: make run PYTHON=/path/to/python3.12"
    )


def _key(wanted: Kernels) -> str:
    sources = (REQUIREMENTS, WORKER_REQUIREMENTS, Path(__file__), Path(kernels.__file__))
    host = str(Path(_host_python()).parent.resolve())
    parts = [wanted.value, VERSION, host, *(path.read_text() for path in sources)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _make_venv(host: str) -> None:
    if VENV_PYTHON.exists() and _site_packages().is_dir():
        return
    _say(f"making .venv with Python {VERSION}")
    uv = shutil.which("uv")
    if _runs(host, "import ensurepip"):
        command = [host, "-m", "venv", "--clear", str(VENV)]
    elif uv:
        command = [uv, "venv", "--quiet", "--clear", "--seed", "--python", host, str(VENV)]
    else:
        raise SetupError(
            f"{host} cannot make virtual environments; install the package that lets it"
            f" (Debian: apt-get install python{VERSION}-venv) or uv, and run again"
        )
    try:
        _run(*command)
    except SetupError:
        shutil.rmtree(VENV, ignore_errors=True)
        raise


def _site_packages() -> Path:
    return VENV / "lib" / f"python{VERSION}" / "site-packages"


def _host_python() -> str:
    """The python outside .venv, also when the user runs make with .venv activated."""
    inside = Path(sys.prefix).resolve() == VENV
    return HOST.read_text() if inside and HOST.exists() else sys.executable


def _runs(python: str, code: str) -> bool:
    command = [python, "-c", code]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _lines(path: Path) -> dict[str, str]:
    """Requirement lines by package name."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return {re.split(r"[=<>\[ ]", line)[0]: line for line in lines if line}


def _install_packages(host: HostTorch | None) -> None:
    """Install all but torch and triton; beside a host's own torch, keep the versions it has."""
    pinned = {n: line for n, line in _lines(REQUIREMENTS).items() if n not in kernels.PACKAGES}
    floors = {n: line for n, line in _lines(WORKER_REQUIREMENTS).items() if "==" not in line}
    # A .pth file lets .venv see the host's packages after its own, also those of another venv.
    link = _site_packages() / "zz_host_packages.pth"
    link.unlink(missing_ok=True)
    if host is None:
        _install(pinned.values())
        return
    # The link comes second, so that programs such as ruff are in .venv even if the host has them.
    _install(line for name, line in pinned.items() if name not in floors)
    link.write_text("\n".join(host.folders) + "\n")
    _pip("install", "-qq", *floors.values())


def _install(lines: Iterable[str]) -> None:
    uv = shutil.which("uv")
    if uv and not _pip_is_configured():
        _run(uv, "pip", "install", "--quiet", "--python", str(VENV_PYTHON), *lines)
    else:
        _pip("install", "-qq", *lines)


def _pip_is_configured() -> bool:
    """Whether pip is configured with an index of its own, which uv does not read."""
    command = [str(VENV_PYTHON), "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return re.search(r"index[-_]url|find[-_]links|no[-_]index", done.stdout) is not None


def _pip(*arguments: str) -> None:
    _run(str(VENV_PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments)


def _run(*command: str) -> None:
    if subprocess.run(command, check=False).returncode != 0:
        brief = " ".join(command[:5])
        raise SetupError(f"{brief} … failed; mend what it says above and run again")


def _say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(f"setup: {error}")
    except KeyboardInterrupt:
        sys.exit("setup: stopped; run again to go on")
