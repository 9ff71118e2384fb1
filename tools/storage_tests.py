"""Run the tests marked `storage` again on a database server and a message broker.

Without both servers it says loudly that they did not run, and goes on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

CONNECT_LIMIT_S = 2.0
SKIPPED = 3 * "*" + " SKIPPED: tests marked storage did not run on {url}: {error} " + 3 * "*"


def main() -> int:
    servers = {
        "DATABASE_URL": os.environ["TEST_DATABASE_URL"],
        "KOPT_BROKER_URL": os.environ["TEST_BROKER_URL"],
    }
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
