"""Run the tests with the mark `storage` again, on a database server and a message broker.

Parts run side by side; each has its own database and its own broker number. Where a server
does not answer, a line says that the tests did not run, and the exit status is 0.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

# Each can be changed by the variable of the same name with TEST_ before it.
SERVERS = {
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/test",
    "KOPT_BROKER_URL": "redis://127.0.0.1:6379/5",
}
MARK = "mark.storage"
# What `make test` runs; another expression of marks may be given.
QUICK = "storage and not long"
# Part → the folder of its tests; the narrowest counts. Those of workers mostly wait, and are first,
# as they use a database that is there.
PARTS = {"workers": "tests/campaigns/tasks/", "campaigns": "tests/", "wiki": "tests/knowledge/"}
CONNECT_LIMIT_S = 2.0
SKIPPED = 3 * "*" + " SKIPPED: tests marked storage did not run on {url}: {error} " + 3 * "*"


def main() -> int:
    marks = sys.argv[1] if len(sys.argv) > 1 else QUICK
    servers = {name: os.environ.get(f"TEST_{name}") or url for name, url in SERVERS.items()}
    for url in servers.values():
        if error := _silence(url):
            print(SKIPPED.format(url=url, error=error), flush=True)
            return 0
    with tempfile.TemporaryDirectory() as folder:
        running = {
            name: _start(place, marks, files, servers, Path(folder, name))
            for place, (name, files) in enumerate(parts(Path()).items())
        }
        statuses = {name: process.wait() for name, process in running.items()}
        for name, status in statuses.items():
            print(f"+ part {name}: exit status {status}", flush=True)
            print(Path(folder, name).read_text(errors="replace"), flush=True)
    return max(statuses.values())


def parts(root: Path) -> dict[str, list[str]]:
    """The files with such tests by part; to collect all takes a while."""
    marked = [path for path in sorted(root.glob("tests/**/test_*.py")) if MARK in path.read_text()]
    names = [path.relative_to(root).as_posix() for path in marked]
    part_of = {name: max(PARTS, key=lambda part: _fits(name, PARTS[part])) for name in names}
    return {part: [name for name in names if part_of[name] == part] for part in PARTS}


def _fits(name: str, folder: str) -> int:
    return len(folder) if name.startswith(folder) else 0


def _start(
    place: int, marks: str, files: list[str], servers: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    own = {variable: _own(url, log.name, place) for variable, url in servers.items()}
    command = [sys.executable, "-m", "pytest", "--durations=10", "-m", marks]
    print("+", *(f"{name}={url}" for name, url in own.items()), *command, "…", flush=True)
    with log.open("wb") as out:
        return subprocess.Popen(
            [*command, *files], env={**os.environ, **own}, stdout=out, stderr=subprocess.STDOUT
        )


def _own(url: str, name: str, place: int) -> str:
    """The address of a database or broker number for one part alone; the first's is as given."""
    if place == 0:
        return url
    if urlsplit(url).scheme.startswith("redis"):
        base, _, number = url.rpartition("/")
        return f"{base}/{int(number) + place}"
    return f"{url}_{name}"


def _silence(url: str) -> str:
    """Why no server answers at the address of `url`; empty when one answers."""
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname, address.port), CONNECT_LIMIT_S):
            return ""
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main())
