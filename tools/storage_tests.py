"""Run the tests with the mark `storage` again, on a database server and a message broker.

Two parts run side by side; each has its own database and its own broker number. Where a server
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
# The tests of each part. The first part uses the addresses as they are.
PARTS = {
    "campaigns": ("tests", "--ignore=tests/knowledge"),
    "wiki": ("tests/knowledge",),
}
CONNECT_LIMIT_S = 2.0
SKIPPED = 3 * "*" + " SKIPPED: tests marked storage did not run on {url}: {error} " + 3 * "*"


def main() -> int:
    servers = {name: os.environ.get(f"TEST_{name}") or url for name, url in SERVERS.items()}
    for url in servers.values():
        if error := _silence(url):
            print(SKIPPED.format(url=url, error=error), flush=True)
            return 0
    with tempfile.TemporaryDirectory() as folder:
        logs = {name: Path(folder, name) for name in PARTS}
        running = {name: _start(name, servers, log) for name, log in logs.items()}
        statuses = {name: process.wait() for name, process in running.items()}
        for name, log in logs.items():
            print(f"+ part {name}: exit status {statuses[name]}", flush=True)
            print(log.read_text(errors="replace"), flush=True)
    return max(statuses.values())


def _start(name: str, servers: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    own = {variable: _own(url, name) for variable, url in servers.items()}
    command = [sys.executable, "-m", "pytest", "-m", "storage", *PARTS[name]]
    print("+", *(f"{variable}={url}" for variable, url in own.items()), *command, flush=True)
    with log.open("wb") as out:
        return subprocess.Popen(
            command, env={**os.environ, **own}, stdout=out, stderr=subprocess.STDOUT
        )


def _own(url: str, name: str) -> str:
    """The address of a database or broker number that no other part uses."""
    place = [*PARTS].index(name)
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
