"""Plan or confirm an import of many files in parts, by a task: nobody waits for more than a part.

What a person brings are proposals, so its documents do not depend on each other. A part of a plan
is tried and taken back. A part of an import is stored together with the note that it is: after a
crash it goes on from there, and what cannot be completed is undone. Until then it is "being
imported", and none of its values counts.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from knowledge.curation.errors import LONGEST_BATCH_REASON, Conflict, CurationError
from knowledge.curation.owners import not_owned
from knowledge.curation.turn import turn
from knowledge.exchange.batches import begin, undo
from knowledge.exchange.confirm import before_import, intake_of, note_import
from knowledge.exchange.importer import take_bundle
from knowledge.exchange.plan import Row, plan_of, require_plannable, try_import
from knowledge.exchange.readers.bundle import Bundle, read_bundle
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.exchange.readers.foreign import LineOutcome
from knowledge.exchange.take_documents import (
    ImportOptions,
    ImportSummary,
    PlatformChange,
    store_platforms,
    take_documents,
    untold,
)
from knowledge.models import Batch, BatchState
from knowledge.models.batch import WORKED_ON

log = logging.getLogger(__name__)

TASK = "campaigns.tasks.wiki_import"
MANY = 200  # files; fewer are planned and imported while the page waits
PART = 50  # documents, for which another writer waits
# Who waits for SQLite's lock looks for it every tenth of a second, and would never meet it free.
PAUSE_S = 0.15
LEASE_S = 60.0
EXPIRES_S = 600
Tell = Callable[[int, int], None]


class WorkLost(Exception):
    """Another process goes on with the import, or it was dropped."""


def begin_plan(brought: WikiFiles, by: Any) -> Batch:
    """Store the files; a task plans their import. Raises as `plan_import` does."""
    origin = require_plannable(brought, by)
    plan = {"whole": brought.whole, "left_out": list(brought.left_out)}
    batch = Batch.objects.create(
        origin=origin, files=brought.texts, plan=plan, author=by, state=BatchState.PLANNING
    )
    _ring(batch.pk)
    return batch


def begin_import(batch: Batch, by: Any) -> None:
    """Decide that a plan is carried out; a task does it. Raises as `confirm` does."""
    with turn(batch):
        begin(batch, by, BatchState.TAKING)
        before = before_import(batch.files, intake_of(batch))
        rows = Batch.objects.filter(pk=batch.pk)
        rows.update(progress={"before": before}, heartbeat_at=None)
    _ring(batch.pk)


def is_large(batch: Batch) -> bool:
    """Whether a task is to carry it out. What a command planned may approve: all or nothing."""
    return batch.author_id is not None and len(batch.plan.get("documents", ())) > MANY


def ring_for_imports() -> None:
    """Have a task go on with what nobody works on. Run a few times a minute."""
    rows = Batch.objects.filter(_is_left(), state__in=WORKED_ON)
    for key in rows.values_list("pk", flat=True):
        _ring(key)


def work_on(key: int, tell: Tell = untold) -> None:
    """Go on with an import until it is planned, or done. Nothing where somebody works on it."""
    # The first address that a process makes takes seconds, which are not for a part.
    reverse("knowledge:documents")
    now = timezone.now()
    rows = Batch.objects.filter(_is_left(), pk=key, state__in=WORKED_ON)
    if not rows.update(heartbeat_at=now):
        return
    work = _Work(Batch.objects.select_related("author").get(pk=key), tell)
    try:
        work.plan() if work.batch.state == BatchState.PLANNING else work.take()
    except WorkLost:
        log.warning("import %s: dropped, or taken over by another process", key)


def _is_left() -> Q:
    silent = timezone.now() - timedelta(seconds=LEASE_S)
    return Q(heartbeat_at=None) | Q(heartbeat_at__lt=silent)


def _ring(key: int) -> None:
    def send() -> None:
        try:
            current_app.send_task(TASK, args=[key], queue="default", expires=EXPIRES_S)
        except (OperationalError, OSError) as error:
            log.warning("import %s: the queue is unreachable (%s); it is rung again", key, error)

    transaction.on_commit(send)


class _Work:
    """One claimed batch."""

    def __init__(self, batch: Batch, tell: Tell) -> None:
        self.batch = batch
        self._tell = tell

    def plan(self) -> None:
        batch = self.batch
        said = batch.plan
        brought = WikiFiles(batch.origin, batch.files, tuple(said["left_out"]), said["whole"])
        intake = ImportOptions(batch.origin, batch.author, whole=brought.whole)
        try:
            plan = plan_of(brought, intake, self._try)
        except Conflict as error:
            # The turn of another import does not end; this one is rung for again.
            log.warning("%s: %s", batch, error)
            return
        self._claim(plan=plan, state=BatchState.PLANNED, progress={})

    def _try(self, files: Mapping[str, str], bundle: Bundle, intake: ImportOptions) -> Row:
        """Do what `try_import` does, in parts."""
        if not _is_parted(bundle):
            return try_import(files, bundle, intake)
        told: Counter[str] = Counter()
        found: Row = {"unchecked": 0, "documents": [], "platforms": [], "told": []}
        for done, part in _parts(bundle):
            texts = part.texts if part.pages else files
            options = replace(intake, whole=intake.whole and not part.pages)
            one = try_import(texts, part, options, bundle.platforms)
            told.update(one["counts"])
            found["unchecked"] += one["unchecked"]
            found["documents"] += one["documents"]
            found["told"] += one["told"]
            found["platforms"] = one["platforms"]
            self._note(done, len(bundle.pages))
        return found | {"counts": dict(told)}

    def take(self) -> None:
        batch = self.batch
        bundle, intake = read_bundle(batch.files, ours=False), intake_of(batch)
        try:
            bundle.require_readable()
            if not _is_parted(bundle):
                with turn():
                    self._close(take_bundle(bundle, intake))
                return
            for done, part in _parts(bundle):
                if done > batch.progress.get("done", 0) or not part.pages:
                    self._take_part(part, intake, bundle, done)
        except (ImportRefused, CurationError) as error:
            with turn():
                self._close(self._so_far())
                undo(batch, None, f"it could not be completed: {error}"[:LONGEST_BATCH_REASON])
        except Conflict as error:
            log.warning("%s: %s", batch, error)

    def _take_part(self, part: Bundle, intake: ImportOptions, whole: Bundle, done: int) -> None:
        with turn():
            for message in not_owned(part.texts, intake.origin).values():
                raise ImportRefused(message)
            described = store_platforms(whole.platforms)
            if part.pages:
                summary = take_documents(part, intake, set())
                summary += ImportSummary(documents=len(part.pages), platforms=described)
                self._note(done, len(whole.pages), self._so_far() + summary)
            else:
                self._close(self._so_far() + take_bundle(part, intake))

    def _so_far(self) -> ImportSummary:
        """The summary of the parts that are done, which is stored as `asdict` has it."""
        stored = self.batch.progress.get("summary", {})
        known = {field.name: stored[field.name] for field in fields(ImportSummary) if stored}
        known["platforms"] = tuple(PlatformChange(**row) for row in stored.get("platforms", ()))
        known["told"] = tuple(LineOutcome(**row) for row in stored.get("told", ()))
        return ImportSummary(**known)

    def _note(self, done: int, of: int, summary: ImportSummary | None = None) -> None:
        """Say how far it is, which holds the claim as well."""
        progress = self.batch.progress | {"done": done, "of": of}
        if summary is not None:
            progress["summary"] = asdict(summary)
        self._claim(progress=progress)
        self._tell(done, of)

    def _claim(self, **values: Any) -> None:
        """Write these columns while the claim holds. Raises WorkLost."""
        batch, now = self.batch, timezone.now()
        mine = Batch.objects.filter(pk=batch.pk, state=batch.state, heartbeat_at=batch.heartbeat_at)
        if not mine.update(heartbeat_at=now, **values):
            raise WorkLost
        batch.heartbeat_at = now
        for name, value in values.items():
            setattr(batch, name, value)

    def _close(self, summary: ImportSummary) -> None:
        self._claim()
        note_import(self.batch, self.batch.progress["before"], summary)


def _is_parted(bundle: Bundle) -> bool:
    """Whether its documents can be stored one after the other: no value rests on another file."""
    return not (bundle.values or bundle.kept.origins or bundle.kept.specs or bundle.kept.earlier)


def _parts(bundle: Bundle) -> Iterator[tuple[int, Bundle]]:
    """Its documents in parts, with how many are done then; at last none, which ends an import.

    After each there is a moment in which others may write.
    """
    paths = list(bundle.pages)
    for first in range(0, len(paths), PART):
        some = paths[first : first + PART]
        yield (
            first + len(some),
            Bundle(
                {path: bundle.texts[path] for path in some},
                {path: bundle.pages[path] for path in some},
                {path: bundle.plain[path] for path in some if path in bundle.plain},
            ),
        )
        time.sleep(PAUSE_S)
    yield len(paths), replace(bundle, pages={}, plain={}, instead={})
    time.sleep(PAUSE_S)
