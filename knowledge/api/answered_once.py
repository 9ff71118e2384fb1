"""Idempotency-Key: a POST that is sent twice does its work once and is answered twice."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.curation.errors import Conflict, CurationError
from knowledge.models import KeptAnswer

HEADER = "Idempotency-Key"
KEPT_FOR = timedelta(days=1)
LONGEST_KEY = 200


class Answered(Exception):
    """The request was answered before: `response` is that answer."""

    def __init__(self, response: Response) -> None:
        super().__init__("answered before")
        self.response = response


def claim(request: Request) -> KeptAnswer | None:
    """Take the request's key for this request; None where it has none.

    Raises Answered, CurationError where the key was used for another request, and Conflict while
    that one is under way.
    """
    key = request.headers.get(HEADER)
    if request.method != "POST" or key is None:
        return None
    if not key.isprintable() or not key.isascii() or not 0 < len(key) <= LONGEST_KEY:
        raise CurationError(HEADER, f"accepted: 1 to {LONGEST_KEY} printable ASCII characters")
    KeptAnswer.objects.filter(at__lt=timezone.now() - KEPT_FOR).delete()
    digest = _digest(request)
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(user=request.user, key=key, request=digest)
    except IntegrityError:
        kept = KeptAnswer.objects.filter(user=request.user, key=key).first()
    if kept is None or (kept.request == digest and kept.status is None):
        raise Conflict(f"{HEADER}: the first request with it is under way; ask again later")
    if kept.request != digest:
        raise CurationError(HEADER, "it was used for another request; accepted: a new key")
    raise Answered(Response(json.loads(kept.content), kept.status, headers={"Idempotent": "1"}))


def keep(claimed: KeptAnswer, response: Any) -> None:
    """Keep the rendered answer; a refusal leaves the key free, for it stored nothing."""
    if response.status_code >= 400:
        claimed.delete()
        return
    claimed.status, claimed.content = response.status_code, response.content.decode()
    claimed.save(update_fields=["status", "content"])


def _digest(request: Request) -> str:
    body = json.dumps(request.data, sort_keys=True, default=str)
    said = f"{request.method} {request.get_full_path()} {body}"
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()
