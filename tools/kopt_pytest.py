"""Have a kernel judged by a kopt server from a pull request, and fail when it became slower.

It needs Python alone, and this file: as a command, or as a plugin of pytest.

    python kopt_pytest.py kernels/softmax.cu --campaign 3
    pytest -p kopt_pytest          def test_softmax(kopt): kopt.not_slower("softmax.cu", campaign=3)

`KOPT_URL` is the server and `KOPT_TOKEN` a token with the scope `submit`. A kernel is slower when
the whole interval of its gain lies below zero. One that is wrong, or cannot be trusted, fails too.
Exit codes: 0 not slower, 1 not judged, 5 slower or wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

try:
    import pytest
except ImportError:  # as a command it needs none
    pytest = None  # type: ignore[assignment]

ASK_EVERY_S, USUAL_MINUTES, TIMEOUT_S = 5.0, 30.0, 30.0
REFUSED, SLOWER = 1, 5
# Verdicts of a kernel that was correct and measured; the interval says the rest.
MEASURED = ("accepted", "no_change", "rejected", "needs_review")


class NotJudged(Exception):
    """The server did not take it, or did not answer in time; the message says why."""


@dataclass(frozen=True)
class KernelResult:
    """What the server found. gain: a fraction with `low` and `high`; None where none was measured.

    markdown: a few lines for a pull request.
    """

    verdict: str
    reason: str
    gain: dict[str, Any] | None
    markdown: str

    @property
    def is_worse(self) -> bool:
        """Slower by the whole interval, or without a proven time at all."""
        if self.gain is None or self.verdict not in MEASURED:
            return True
        return bool(self.gain["high"] < 0)

    @property
    def sentence(self) -> str:
        said = f"{self.verdict.replace('_', ' ')}, {self.reason.replace('_', ' ')}"
        if self.gain is None:
            return f"{said}: no gain was measured"
        ends = "{gain:+.2%} [{low:+.2%}, {high:+.2%}], n={pairs}".format(**self.gain)
        return f"{said}: {ends} in speed against the incumbent"


class _NoRedirect(HTTPRedirectHandler):
    """Another address is not the one that the token is for."""

    def redirect_request(self, *redirect: Any) -> None:
        address = redirect[-1]
        raise URLError(f"it redirects to {address}, which gets no token; accepted: KOPT_URL")


class Server:
    """One kopt server. pause: waits for so many seconds."""

    def __init__(
        self, url: str, token: str, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise NotJudged(f"KOPT_URL: {url!r}; accepted: the http or https address of a server")
        self._url, self._token, self._pause = url.rstrip("/"), token, pause

    def judge(
        self, path: Path, campaign: int, said: dict[str, Any], *, minutes: float = USUAL_MINUTES
    ) -> KernelResult:
        """Hand the file in and wait for its verdict. Raises NotJudged."""
        try:
            source = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise NotJudged(f"{path}: {error}") from None
        known = self._get(f"campaigns/{campaign}/")
        # What limits the incumbent has to be named where that was counted.
        evidence = [*known["cases"], *(["limit"] if "limit" in known["evidence"] else [])]
        body = {**_hypothesis(path, source), "evidence": evidence, **said, "source": source}
        handed = self._post(f"campaigns/{campaign}/candidates/", body)
        until = time.monotonic() + 60 * minutes
        number: int | None = handed["round"]
        while number is None:
            self._wait(until, f"submission {handed['id']} waits for its round")
            number = self._get(f"submissions/{handed['id']}/")["round"]
        address = f"rounds/?campaign={campaign}&number={number}"
        while not (row := self._get(address)["results"][0])["verdict"]:
            self._wait(until, f"round {number} has no verdict")
        text = self._ask(f"rounds/{row['id']}/markdown").decode()
        return KernelResult(row["verdict"], row["reason"], row["gain"], text)

    def not_slower(self, path: str | Path, *, campaign: int, **said: Any) -> KernelResult:
        """The result, for a test; AssertionError where it became slower or is wrong."""
        minutes = said.pop("minutes", USUAL_MINUTES)
        found = self.judge(Path(path), campaign, said, minutes=minutes)
        if found.is_worse:
            raise AssertionError(f"{path}: {found.sentence}")
        return found

    def _wait(self, until: float, what: str) -> None:
        if time.monotonic() > until:
            raise NotJudged(f"{what}, and no time is left")
        self._pause(ASK_EVERY_S)

    def _get(self, path: str) -> Any:
        return json.loads(self._ask(path))

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        text = json.dumps(body).encode()
        # What is sent again by a job that is run again gets the first answer, for a day.
        key = hashlib.sha256(quote(path).encode() + text).hexdigest()
        return json.loads(self._ask(path, text, {"Idempotency-Key": key}))

    def _ask(
        self, path: str, body: bytes | None = None, more: dict[str, str] | None = None
    ) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = Request(f"{self._url}/api/v1/{path}", body, headers | (more or {}))
        try:
            with build_opener(_NoRedirect).open(request, timeout=TIMEOUT_S) as answer:
                found: bytes = answer.read()
                return found
        except HTTPError as error:
            raise NotJudged(f"{path}: {error.code}: {_told(error.read())}") from None
        except (URLError, OSError) as error:
            raise NotJudged(f"{self._url}: {error}") from None


def _printable(text: str) -> str:
    """Without what a terminal would take for an order."""
    return "".join(sign for sign in text if sign in "\n\t" or sign.isprintable())


def _told(answer: bytes) -> str:
    """The field and the message of a refusal; its first words where it is none of kopt's."""
    try:
        said = json.loads(answer)
        return f"{said['field']}: {said['message']}"
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace")


def _hypothesis(path: Path, source: str) -> dict[str, Any]:
    """What a change says of itself where its author says no more; other sources, other words."""
    mark = hashlib.sha256(source.encode()).hexdigest()[:12]
    return {
        "title": f"{path.name} of a pull request, {mark}",
        "change": f"{path.name} as it stands in the pull request, {mark}",
        "rationale": "it is proposed, and should not be slower than what is in use",
        "metric": "time_us",
        "direction": "down",
        "amount": "1%",
        "file_name": path.name,
    }


def server_of(environment: Any) -> Server:
    """The server that the environment names. Raises NotJudged."""
    missing = [name for name in ("KOPT_URL", "KOPT_TOKEN") if not environment.get(name)]
    if missing:
        raise NotJudged(f"{', '.join(missing)}: not set; accepted: a server's address and a token")
    return Server(environment["KOPT_URL"], environment["KOPT_TOKEN"])


def main(arguments: list[str]) -> int:
    """The command; its Markdown goes to stdout, and to the summary of a job on GitHub."""
    parser = argparse.ArgumentParser(prog="kopt_pytest", description=__doc__)
    parser.add_argument("kernel", type=Path, help="the file, as the campaign's backend takes it")
    parser.add_argument("--campaign", type=int, required=True, help="its number on the server")
    parser.add_argument("--title", help="the idea in a few words")
    parser.add_argument("--change", help="what the source does differently")
    parser.add_argument("--minutes", type=float, default=USUAL_MINUTES, help="how long to wait")
    asked = parser.parse_args(arguments)
    said = {name: getattr(asked, name) for name in ("title", "change") if getattr(asked, name)}
    try:
        server = server_of(os.environ)
        found = server.judge(asked.kernel, asked.campaign, said, minutes=asked.minutes)
    except NotJudged as error:
        print(_printable(f"kopt: {error}"), file=sys.stderr)
        return REFUSED
    print(_printable(found.markdown))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a") as file:
            file.write(found.markdown)
    print(_printable(f"kopt: {asked.kernel}: {found.sentence}"), file=sys.stderr)
    return SLOWER if found.is_worse else 0


if pytest is not None:

    @pytest.fixture(scope="session")
    def kopt() -> Iterator[Server]:
        """The server of `KOPT_URL`; a test that needs it is skipped where none is named."""
        try:
            yield server_of(os.environ)
        except NotJudged as error:
            pytest.skip(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
