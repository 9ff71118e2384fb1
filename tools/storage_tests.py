"""Run the tests marked `storage` again on a database server and a message broker.

Without both servers it says loudly that they did not run, and goes on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

# Each can be changed by the variable of the same name with TEST_ before it.
SERVERS = {
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/test",
    "KOPT_BROKER_URL": "redis://127.0.0.1:6379/5",
}
CONNECT_LIMIT_S = 2.0
SKIPPED = 3 * "*" + " SKIPPED: tests marked storage did not run on {url}: {error} " + 3 * "*"


def main() -> int:
    servers = {name: os.environ.get(f"TEST_{name}") or url for name, url in SERVERS.items()}
    for url in servers.values():
        if error := _silence(url):
            print(SKIPPED.format(url=url, error=error), flush=True)
            return 0
    command = [sys.executable, "-m", "pytest", "-m", "storage"]
    print("+", *(f"{name}={url}" for name, url in servers.items()), *command, flush=True)
    return subprocess.run(command, env={**os.environ, **servers}, check=False).returncode


def _silence(url: str) -> str:
    """Why nothing answers at the address of `url`; empty when something does."""
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname, address.port), CONNECT_LIMIT_S):
            return ""
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main())
