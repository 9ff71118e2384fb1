"""The noise passports of a worker as they stand: which one counts, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from campaigns.models import Passport, PassportWish, Worker
from campaigns.rules.noise.passport import (
    USUAL_AGE,
    Conditions,
    Length,
    age_words,
    conditions_from,
    differences,
    length_from,
    noisy,
)


@dataclass(frozen=True, slots=True)
class PassportState:
    """What is known of one worker's noise.

    passport: the newest that holds numbers. stale, failing: why it should not be relied on.
    failed: the newest try, where it came to nothing. wish: a request that is still open.
    """

    passport: Passport | None
    lengths: tuple[Length, ...]
    conditions: Conditions
    stale: tuple[str, ...]
    failing: tuple[str, ...]
    failed: Passport | None
    wish: PassportWish | None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Every reason not to rely on it."""
        return (*self.failing, *self.stale)

    @property
    def noisy(self) -> tuple[str, ...]:
        """Where it can tell no success from nothing; its floor is true and counts all the same."""
        return noisy(self.lengths)

    @property
    def word(self) -> str:
        """none, failing, stale, noisy or good."""
        if self.passport is None:
            return "none"
        if self.doubts:
            return "failing" if self.failing else "stale"
        return "noisy" if self.noisy else "good"

    @property
    def words(self) -> str:
        """One sentence for people."""
        if self.passport is None:
            tried = f"; the last try failed: {self.failed.error}" if self.failed else ""
            return f"no noise passport yet{tried}"
        named = f"noise passport {self.passport.pk}"
        if self.doubts:
            return f"{named} is {self.word}: {'; '.join(self.doubts)}"
        holds = f"{named} of {self.passport.taken_at:%Y-%m-%d} holds"
        return f"{holds}, and is noisy: {'; '.join(self.noisy)}" if self.noisy else holds


def most_age() -> timedelta:
    """How old a passport may be. With scheduling off (0 days) the usual age counts."""
    return timedelta(days=settings.KOPT_PASSPORT_DAYS) or USUAL_AGE


def state_of(worker: Worker, at: datetime | None = None) -> PassportState:
    """The state of a worker's passport. One of the same device counts, whichever worker took it.

    at: as it stood then, when something was measured; what was taken later is not looked at, or a
    verdict could be had by taking passports until one suits it.
    """
    rows = of_device(worker) if at is None else of_device(worker).filter(taken_at__lte=at)
    tries = list(rows[:1])
    passport = tries[0] if tries and not tries[0].error else rows.filter(error="").first()
    stale: tuple[str, ...] = ()
    if passport is not None:
        known = {name: worker.versions[name] for name in passport.host if name in worker.versions}
        then = {name: passport.host[name] for name in known}
        changed = differences(then, known)
        stale = (*changed, *age_words(passport.taken_at, at or timezone.now(), most_age()))
    return PassportState(
        passport=passport,
        lengths=tuple(length_from(stored) for stored in passport.lengths) if passport else (),
        conditions=conditions_from(passport.conditions) if passport else Conditions(),
        stale=stale,
        failing=tuple(passport.failures) if passport else (),
        failed=tries[0] if tries and tries[0].error else None,
        wish=open_wish(worker),
    )


def of_device(worker: Worker) -> models.QuerySet[Passport]:
    """Every passport of the worker's device, the newest first, without the raw sessions."""
    card = {"card": worker.card} if worker.card else {"worker": worker}
    return Passport.objects.filter(**card).defer("reports").order_by("-pk")


def found_words(passport: Passport) -> str:
    """What one passport came to, whether it is the newest or not."""
    too_much = noisy(length_from(stored) for stored in passport.lengths)
    against = [passport.error] if passport.error else passport.failures or too_much
    return "; ".join(against) or "good"


def open_wish(worker: Worker) -> PassportWish | None:
    """The newest request, where no passport answers it; None where there is none."""
    wish = PassportWish.objects.filter(worker=worker).select_related("asked_by").first()
    return None if wish is None or wish.passports.exists() else wish
