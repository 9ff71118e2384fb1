"""What stands between: a TCP proxy before a server that kopt needs, and a person with a browser.

The proxy can cut, refuse and stall; the person reads pages, logs in, sends forms and files.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

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


USER, PASSWORD = "faults", "faults-password"
CSRF = "csrftoken"
LOGIN = "/login/"


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """status: 0 where there was none. text: the page. to: where a redirection leads."""

    status: int
    seconds: float
    text: str = ""
    to: str = ""


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *request: Any) -> None:
        return None


class Visitor:
    """One browser with its cookies. address: `http://host:port`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._jar = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._jar), _Stay)

    def get(self, path: str, limit_s: float) -> PageAnswer:
        return self._ask(Request(self._address + path), limit_s)

    def post(
        self,
        path: str,
        fields: Mapping[str, str],
        limit_s: float,
        file: SimpleUploadedFile | None = None,
    ) -> PageAnswer:
        """Send a form, with `files` as the name of a file's field."""
        csrf = next((c.value or "" for c in self._jar if c.name == CSRF), "")
        sent = {"csrfmiddlewaretoken": csrf, **fields, **({"files": file} if file else {})}
        request = Request(self._address + path, encode_multipart(BOUNDARY, sent))
        request.add_header("Content-Type", MULTIPART_CONTENT)
        return self._ask(request, limit_s)

    def log_in(self, limit_s: float) -> PageAnswer:
        """By the page, as people do; a status of 302 is a success."""
        page = self.get(LOGIN, limit_s)
        if page.status != 200:
            return page
        left = max(1.0, limit_s - page.seconds)
        return self.post(LOGIN, {"username": USER, "password": PASSWORD}, left)

    def _ask(self, request: Request, limit_s: float) -> PageAnswer:
        begun = time.monotonic()
        try:
            with self._opener.open(request, timeout=limit_s) as found:
                text = found.read().decode("utf-8", "replace")
                return PageAnswer(found.status, time.monotonic() - begun, text)
        except HTTPError as error:
            with error:
                to = error.headers.get("Location", "")
                return PageAnswer(error.code, time.monotonic() - begun, "", to)
        except (OSError, HTTPException):
            return PageAnswer(0, time.monotonic() - begun)
