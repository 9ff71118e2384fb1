"""Tell addresses elsewhere what happened: rows say what is to be sent, and how far each came.

What happened is found in the rows that record it, so that nothing is lost with a process, and
nothing that records needs to know who listens.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from campaigns.models import Delivery, Event, HookKind, Webhook
from campaigns.models.campaign import measured_here
from campaigns.models.webhook import EVENT_KINDS
from campaigns.records.verdicts import gain_of
from campaigns.steps.notify import send_after_commit
from campaigns.steps.safe_post import PostAnswer, post, require_sendable
from knowledge.curation.errors import Conflict, CurationError
from knowledge.models.change import Action, SpecChange
from knowledge.models.project import eyes_of_project
from knowledge.models.sight import seeing

MOST_HOOKS = 50
TRIES = 3
# After the first and the second try that failed.
BACKOFF_S = (30.0, 300.0)
# Longer than a try takes; after it another process takes it over.
LEASE_S = 60.0
# How far back is looked for what nobody has sent yet; the rows of a slow transaction come late.
REACH = timedelta(days=1)
MOST_AT_ONCE = 200


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


def deliver_again(delivery: Delivery, by: Any) -> Delivery:
    """Send the same once more, as a row of its own. Conflict for an address that has ended."""
    if delivery.webhook.ended_at is not None:
        raise Conflict("the webhook has ended, and is told no more")
    made = Delivery.objects.create(
        webhook=delivery.webhook,
        kind=delivery.kind,
        source=delivery.source,
        body=delivery.body,
        by=by,
    )
    ring(made.pk)
    return made


def ring_for_deliveries() -> None:
    """Write down what is to be sent and have it sent. Run a few times a minute."""
    for hook in Webhook.objects.filter(ended_at=None):
        # Nobody knows who reads there: what belongs to a project is not told.
        with seeing(eyes_of_project(None)):
            rows = [
                Delivery(webhook=hook, kind=kind, source=source, body=json.dumps(body))
                for kind, source, body in _news(hook)
            ]
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)
    waiting = Delivery.objects.filter(ended_at=None, webhook__ended_at=None)
    due = waiting.filter(next_at__lte=timezone.now())
    for key in due.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE]:
        ring(key)


def ring(key: int) -> None:
    send_after_commit("campaigns.tasks.deliver", key, "default", LEASE_S)


def deliver(key: int) -> None:
    """Try one delivery, if it is due and nobody else tries it."""
    now = timezone.now()
    row = Delivery.objects.filter(pk=key, ended_at=None, webhook__ended_at=None, next_at__lte=now)
    lease = now + timedelta(seconds=LEASE_S)
    if not row.update(attempts=F("attempts") + 1, next_at=lease):
        return
    found = Delivery.objects.select_related("webhook").get(pk=key)
    if found.attempts > TRIES:  # the last try ended with its process
        _write(found, PostAnswer(None, found.excerpt or "the process that sent it ended"))
        return
    _write(found, post(found.webhook.url, found.body.encode(), _headers(found, now)))


def _write(found: Delivery, answer: PostAnswer) -> None:
    now = timezone.now()
    found.status, found.excerpt = answer.status, answer.text
    if found.arrived or found.attempts >= TRIES:
        found.ended_at = now
    else:
        found.next_at = now + timedelta(seconds=BACKOFF_S[found.attempts - 1])
    found.save(update_fields=["status", "excerpt", "next_at", "ended_at"])


def _headers(found: Delivery, now: datetime) -> dict[str, str]:
    """The signature is over the time, a full stop and the body."""
    at = str(int(now.timestamp()))
    mac = hmac.new(found.webhook.secret.encode(), f"{at}.{found.body}".encode(), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "User-Agent": "kopt",
        "X-Kopt-Event": found.kind,
        "X-Kopt-Delivery": str(found.pk),
        "X-Kopt-Timestamp": at,
        "X-Kopt-Signature": f"sha256={mac.hexdigest()}",
    }


News = tuple[str, str, dict[str, Any]]


def _news(hook: Webhook) -> Iterator[News]:
    """What happened since it was made and is not written down for it yet: kind, source, body."""
    since = max(hook.created_at, timezone.now() - REACH)
    known = set(hook.deliveries.filter(at__gte=since).values_list("source", flat=True))
    asked = {each: kind for kind in hook.kinds for each in EVENT_KINDS.get(kind, ())}
    own = Event.objects.filter(measured_here("campaign__"))
    events = own.filter(kind__in=asked, at__gte=since).order_by("pk")
    rows = events.select_related("campaign__problem", "campaign__platform", "round__verdict")
    for event in rows[: len(known) + MOST_AT_ONCE]:
        if (source := f"event:{event.pk}") not in known:
            yield asked[event.kind], source, _event(event, asked[event.kind], hook.site)
    if HookKind.APPROVED not in hook.kinds:
        return
    changes = SpecChange.objects.filter(action=Action.APPROVED, at__gte=since, elsewhere=None)
    for change in changes.select_related("spec__platform").order_by("pk"):
        if (source := f"change:{change.pk}") not in known:
            yield HookKind.APPROVED, source, _change(change, hook.site)


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
        names = ("gain", "low", "high", "pairs", "kind")
        body["round"] = {
            "id": tried.pk,
            "number": tried.number,
            "title": tried.title,
            "verdict": verdict.word if verdict else "",
            "reason": verdict.reason if verdict else "",
            "gain": {name: getattr(gain, name) for name in names} if gain else None,
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
