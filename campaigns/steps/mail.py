"""Mail: what a person was told and has not read, one letter for all of it (at most once)."""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.utils import timezone

from campaigns.steps.notify import send_after_commit
from knowledge.curation.projects import eyes_of
from knowledge.models import MailAddress, Notification
from knowledge.models.sight import seeing

log = logging.getLogger(__name__)

# Whoever looks at the page within this time needs no letter.
AFTER = timedelta(minutes=1)
MOST_LINES = 50
LEASE_S = 60.0


def ring_for_mail() -> None:
    """Have each person written to whom something was told. Run a few times a minute."""
    if not settings.EMAIL_HOST:
        return
    due = Notification.objects.filter(person__mail__isnull=False, **_due())
    for key in due.order_by().values_list("person", flat=True).distinct():
        send_after_commit("campaigns.tasks.write_mail", key, "default", LEASE_S)


def write_mail(person: int) -> int:
    """Write to one person what is due; how many notifications the letter has.

    They are marked before it is sent: a letter that a server refused is not sent again, and what it
    said stays on the person's page.
    """
    choice = MailAddress.objects.select_related("person").filter(person=person).first()
    every = Notification.objects.filter(person=person, **_due())
    with seeing(eyes_of(choice.person) if choice else frozenset):
        rows = Notification.objects.filter(person=person, **_due()).order_by("pk")
        keys = list(rows.values_list("pk", flat=True))
    every.exclude(pk__in=keys).update(mailed_at=timezone.now())  # its person sees these no longer
    taken = Notification.objects.filter(pk__in=keys, mailed_at=None)
    if choice is None or not keys or not taken.update(mailed_at=timezone.now()):
        return 0
    found = list(Notification.objects.filter(pk__in=keys).order_by("pk"))
    lines = [f"{row.text}\n{choice.site}{row.url}" for row in found[:MOST_LINES]]
    more = len(found) - len(lines)
    if more:
        lines.append(f"{more} more on {choice.site}/me/")
    # A line break in a subject would be another header.
    first = " ".join(found[0].text.split())[:120]
    subject = first if len(found) == 1 else f"kopt: {len(found)} things need you"
    text = "\n\n".join([*lines, f"To end these letters: {choice.site}/me/"])
    try:
        send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [choice.address])
    except (OSError, SMTPException) as error:
        log.warning("no letter to %s: %s", choice.person, error)
    return len(found)


def _due() -> dict[str, object]:
    return {"read_at": None, "mailed_at": None, "at__lte": timezone.now() - AFTER}
