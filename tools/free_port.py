"""Print the first free port from the one that is asked for: standard library only, for `make run`.

python -m tools.free_port 8000
"""

from __future__ import annotations

import errno
import socket
import sys

HOST = "127.0.0.1"
TRIED = 100
LAST = 65535


class NoPort(Exception):
    """No port can be used; the message says which are accepted."""


def free_port(asked: str, host: str = HOST) -> int:
    """The port `asked` for if it is free, else the next free one. Raises NoPort."""
    if not asked.isdecimal() or not 1 <= int(asked) <= LAST:
        raise NoPort(f"PORT={asked!r}: accepted is a number from 1 to {LAST}")
    first = int(asked)
    for port in range(first, min(first + TRIED, LAST + 1)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise NoPort(f"port {port} on {host}: {error.strerror}") from None
            else:
                return port
    raise NoPort(f"PORT={asked}: neither it nor the next {TRIED - 1} are free on {host}")


def main(arguments: list[str]) -> int:
    asked = arguments[0] if arguments else "8000"
    try:
        port = free_port(asked)
    except NoPort as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    if port != int(asked):
        print(f"setup: port {asked} is taken; using port {port}", file=sys.stderr)
    print(port)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
