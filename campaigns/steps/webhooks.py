"""Tell addresses elsewhere what happened.

What happened is found in the rows that record it, so that nothing is lost with a process, and
nothing that records needs to know who listens. A message may come twice.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from campaigns.models import Event, HookKind, Webhook
from campaigns.models.campaign import measured_here
from campaigns.models.webhook import EVENT_KINDS
from campaigns.records.values import gain_value
from campaigns.records.verdicts import gain_of
from campaigns.steps.safe_post import post, require_sendable
from knowledge.curation.errors import Conflict, CurationError
from knowledge.models.change import Action, SpecChange
from knowledge.models.project import eyes_of_project
from knowledge.models.sight import seeing

log = logging.getLogger(__name__)

MOST_HOOKS = 50
# After the first and the second try that failed; then a message is given up.
BACKOFF_S = (30.0, 300.0)
# Longer than all tries of a message take.
EXPIRES_S = 3600
# How far back is looked for what nobody has sent yet.
REACH = timedelta(days=1)
# The rows of a slow transaction come late.
SETTLED = timedelta(seconds=10)


def add_webhook(url: str, kinds: Iterable[str], site: str, by: Any) -> Webhook:
    """Tell this address from now on. Raises CurationError, and Conflict where there are many."""
    wanted = [kind for kind in HookKind.values if kind in set(kinds)]
    if not wanted or set(kinds) - set(HookKind.values):
        raise CurationError("kinds", f"accepted: one or more of {', '.join(HookKind.values)}")
    require_sendable(url)
    if Webhook.objects.filter(ended_at=None).count() >= MOST_HOOKS:
        raise Conflict(f"there are {MOST_HOOKS} webhooks; end one first")
    nonce = secrets.token_hex(16)
    return Webhook.objects.create(url=url, kinds=wanted, site=site, nonce=nonce, by=by)


def end_webhook(hook: Webhook) -> bool:
    """Tell it no more; False where it had ended."""
    return bool(Webhook.objects.filter(pk=hook.pk, ended_at=None).update(ended_at=timezone.now()))


def send_news() -> None:
    """Hand to the queue what each address is to be told. Run a few times a minute."""
    for hook in Webhook.objects.filter(ended_at=None):
        try:
            # It counts as told only once all of it is in the queue.
            with transaction.atomic():
                _send_news(hook)
        except (OperationalError, OSError) as error:
            log.warning("%s: the queue is unreachable (%s); the next turn repeats it", hook, error)


def _send_news(hook: Webhook) -> None:
    now = timezone.now()
    since, until = max(hook.told_until or hook.created_at, now - REACH), now - SETTLED
    mine = Webhook.objects.filter(pk=hook.pk, ended_at=None, told_until=hook.told_until)
    if until <= since or not mine.update(told_until=until):
        return
    # Nobody knows who reads there: what belongs to a project is not told.
    with seeing(eyes_of_project(None)):
        for kind, source, body in _news(hook, since, until):
            message = [hook.pk, kind, source, json.dumps(body)]
            name = "campaigns.tasks.call_webhook"
            current_app.send_task(name, args=message, queue="default", expires=EXPIRES_S)


def call(key: int, kind: str, source: str, body: str) -> bool:
    """Send one message and note the answer; False where it did not arrive."""
    hook = Webhook.objects.filter(pk=key, ended_at=None).first()
    if hook is None:
        return True
    now = timezone.now()
    answer = post(hook.url, body.encode(), _headers(hook, kind, source, body, now))
    noted = {"status": answer.status, "text": answer.text, "at": now.isoformat()}
    Webhook.objects.filter(pk=key, ended_at=None).update(answer=noted)
    return answer.status is not None and 200 <= answer.status < 300


def _headers(hook: Webhook, kind: str, source: str, body: str, now: datetime) -> dict[str, str]:
    """The signature is over the time, a full stop and the body."""
    at = str(int(now.timestamp()))
    mac = hmac.new(hook.secret.encode(), f"{at}.{body}".encode(), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "User-Agent": "kopt",
        "X-Kopt-Event": kind,
        "X-Kopt-Delivery": source,
        "X-Kopt-Timestamp": at,
        "X-Kopt-Signature": f"sha256={mac.hexdigest()}",
    }


News = tuple[str, str, dict[str, Any]]


def _news(hook: Webhook, since: datetime, until: datetime) -> Iterator[News]:
    """What happened between the two times that it is told of: kind, source, body."""
    asked = {each: kind for kind in hook.kinds for each in EVENT_KINDS.get(kind, ())}
    own = Event.objects.filter(measured_here("campaign__"), at__gte=since, at__lt=until)
    events = own.filter(kind__in=asked).order_by("pk")
    for event in events.select_related("campaign__problem", "campaign__platform", "round__verdict"):
        yield asked[event.kind], f"event:{event.pk}", _event(event, asked[event.kind], hook.site)
    if HookKind.APPROVED not in hook.kinds:
        return
    changes = SpecChange.objects.filter(action=Action.APPROVED, elsewhere=None)
    changes = changes.filter(at__gte=since, at__lt=until).select_related("spec__platform")
    for change in changes.order_by("pk"):
        yield HookKind.APPROVED, f"change:{change.pk}", _change(change, hook.site)


def _event(event: Event, kind: str, site: str) -> dict[str, Any]:
    campaign, tried = event.campaign, event.round
    body: dict[str, Any] = {
        "kind": kind,
        "at": event.at.isoformat(),
        "message": event.message,
        "campaign": {
            "id": campaign.pk,
            "title": campaign.title,
            "problem": campaign.problem.slug,
            "platform": campaign.platform.slug,
            "backend": campaign.backend,
            "state": campaign.state,
            "url": _address(site, campaign),
        },
        "round": None,
    }
    if tried is not None:
        verdict = getattr(tried, "verdict", None)
        gain = gain_of(verdict) if verdict else None
        body["round"] = {
            "id": tried.pk,
            "number": tried.number,
            "title": tried.title,
            "verdict": verdict.word if verdict else "",
            "reason": verdict.reason if verdict else "",
            "gain": gain_value(gain) if gain else None,
            "url": _address(site, tried),
        }
    return body


def _change(change: SpecChange, site: str) -> dict[str, Any]:
    spec = change.spec
    return {
        "kind": HookKind.APPROVED.value,
        "at": change.at.isoformat(),
        "message": str(change),
        "value": {
            "id": spec.pk,
            "platform": spec.platform.slug,
            "metric": spec.metric,
            "qualifiers": spec.qualifiers,
            "shown": spec.shown,
            "url": _address(site, spec),
        },
    }


def _address(site: str, row: Any) -> str:
    return f"{site.rstrip('/')}{row.get_absolute_url()}"
