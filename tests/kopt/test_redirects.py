"""Whoever asks with a secret carries it to no other host, wherever a redirect leads."""

import contextlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kopt.single_sign_on import REFUSED, Provider
from tools.kopt_pytest import NotJudged, Server

SECRET = "the-secret"
# Modules that ask other hosts; a new one belongs into ASKERS, or has no secret.
ASK = (r"urllib\.request", r"http\.client", "requests", "httpx", "urllib3", "aiohttp")
KNOWN = {
    "campaigns/steps/safe_post.py",  # redirects are not followed; tests/campaigns/steps
    "kopt/single_sign_on.py",
    "tools/kopt_pytest.py",
}


class Host:
    """Another host, as its port is another: it answers all with one status, and keeps what came."""

    def __init__(self, status=200, to=""):
        self.heard = []

        def answer(handler):
            body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
            self.heard.append(f"{handler.path} {handler.headers} {body}")
            handler.send_response(status)
            handler.send_header("Location", to)
            handler.send_header("Content-Length", "2")
            handler.end_headers()
            handler.wfile.write(b"{}")

        own = {"do_GET": answer, "do_POST": answer, "log_message": lambda *_: None}
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("H", (BaseHTTPRequestHandler,), own)
        )
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def of_provider(url):
    provider = Provider.__new__(Provider)
    provider.OIDC_OP_TOKEN_ENDPOINT = provider.OIDC_OP_USER_ENDPOINT = url
    return provider


ASKERS = {
    "action reads": lambda url: Server(url, SECRET)._get("campaigns/1/"),
    "action sends": lambda url: Server(url, SECRET)._post("campaigns/1/candidates/", {}),
    "login by code": lambda url: of_provider(url).get_token({"client_secret": SECRET}),
    "login's person": lambda url: of_provider(url).get_userinfo(SECRET, "", {}),
}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("ask", ASKERS.values(), ids=ASKERS)
def test_a_secret_is_not_carried_along_a_redirect(ask, status):
    other = Host()
    asked = Host(status, f"{other.url}/there")
    try:
        with contextlib.suppress(NotJudged, *REFUSED):
            ask(asked.url)
        assert SECRET in asked.heard[0]
        assert not any(SECRET in heard for heard in other.heard)
    finally:
        asked.close()
        other.close()


def test_every_place_that_asks_another_host_is_known():
    asks = re.compile(rf"^\s*(import|from) ({'|'.join(ASK)})\b", re.MULTILINE)
    files = [
        path
        for app in ("kopt", "knowledge", "campaigns", "tools")
        for path in Path(app).rglob("*.py")
    ]
    found = {str(path) for path in files if asks.search(path.read_text())}
    assert {path for path in found if "/benchmarks/" not in path} == KNOWN
