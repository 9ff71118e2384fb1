"""Bodies of requests, which Django writes to the disk before any view can say a word."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from knowledge.api.problems import ProblemRenderer, refusal_record
from knowledge.lookup.database import full_disk

# A wiki's archive has up to 64 MB; a form around it adds little.
MOST_BYTES = 100_000_000

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class TooLong(Exception):
    """A body of more than `MOST_BYTES`."""


def bounded(application: Application) -> Application:
    """The application, with 413 for longer bodies, and 507 where the disk cannot take one."""

    async def answer(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        left = MOST_BYTES

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLong
            return message

        try:
            await application(scope, counted, send)
        except TooLong:
            await _refuse(scope, send, 413, f"body: accepted: up to {MOST_BYTES:,} bytes")
        except OSError as error:
            if not (said := full_disk(error)):
                raise
            await _refuse(scope, send, 507, said)

    return answer


async def _refuse(scope: dict[str, Any], send: Send, status: int, said: str) -> None:
    kind, text = "text/plain; charset=utf-8", said
    if scope["path"].startswith("/api/v1/"):
        kind, text = ProblemRenderer.media_type, json.dumps(refusal_record(status, "body", said))
    headers = [(b"content-type", kind.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
