"""A TCP proxy between kopt and a server that it needs: it can cut, refuse and stall."""

from __future__ import annotations

import contextlib
import socket
import threading

CHUNK_BYTES = 1 << 16
LOCAL = "127.0.0.1"


class Proxy:
    """Passes connections on to a server until it is told otherwise. Use as a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *error: object) -> None:
        self.refuse()
        self._flows.set()

    def cut(self) -> int:
        """End every open connection at once; how many. New ones are taken."""
        with self._lock:
            ended, self._open = self._open, set()
        for end in ended:
            _end(end)
        return len(ended) // 2

    def refuse(self) -> None:
        """End every connection, and take none until `pass_on`."""
        _end(self._listener)
        self.cut()

    def stall(self) -> None:
        """Keep every connection, take new ones, and let no byte through until `pass_on`."""
        self._flows.clear()

    def pass_on(self) -> None:
        """Serve again, after `refuse` or `stall`."""
        self._flows.set()
        if self._listener.fileno() < 0:
            self._listener = self._listen(self.port)

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server((LOCAL, port), backlog=256)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(self._server)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                self._flows.wait()
                target.sendall(data)
        with self._lock:
            self._open -= {source, target}
        for end in (source, target):
            _end(end)


def _end(end: socket.socket) -> None:
    """Shut down before closing: a thread that waits in `accept` or `recv` wakes by that alone."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
