"""Somebody with a browser: reads pages, logs in, sends forms and files."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

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
        file: tuple[str, bytes] | None = None,
    ) -> PageAnswer:
        """Send a form, with `files` as the name of a file's field."""
        border = uuid.uuid4().hex
        head = f"--{border}\r\nContent-Disposition: form-data; name="
        csrf = {
            "csrfmiddlewaretoken": next((c.value or "" for c in self._jar if c.name == CSRF), "")
        }
        parts = [f'{head}"{name}"\r\n\r\n{said}' for name, said in {**csrf, **fields}.items()]
        body = "\r\n".join(parts).encode()
        if file is not None:
            named = f'\r\n{head}"files"; filename="{file[0]}"\r\n\r\n'
            body += named.encode() + file[1]
        request = Request(self._address + path, body + f"\r\n--{border}--\r\n".encode())
        request.add_header("Content-Type", f"multipart/form-data; boundary={border}")
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
