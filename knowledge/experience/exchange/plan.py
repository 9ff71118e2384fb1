"""Plan an import of experience and answer its questions. Nothing but the plan is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.files import File

from knowledge.curation.errors import CurationError, require_storable
from knowledge.curation.people import require_proposer
from knowledge.curation.turn import turn
from knowledge.exchange.batches import require_may_decide, require_open
from knowledge.exchange.readers.files import ImportRefused, read_brought, read_folder
from knowledge.experience.exchange.naming import KEEP, require_answer
from knowledge.experience.exchange.work_out import work_out
from knowledge.experience.readers.recognise import ACCEPTED, TAKEN
from knowledge.models import Batch, BatchKind

LONGEST_ORIGIN = 120
MAX_FILE_BYTES = 10_000_000
WORDS = ".json, .jsonl, .md and .csv"


def plan_import(
    files: Mapping[str, str], by: Any, *, origin: str = "", answers: Mapping[str, str] | None = None
) -> Batch:
    """Store a plan of importing these files, path → text. No attempt and no lesson is written.

    by: the user, or None for a command. Raises Forbidden, and CurationError where no file holds
    anything that is recognised.
    """
    require_proposer(by)
    name = require_storable("origin", origin.strip() or "upload", LONGEST_ORIGIN)
    if not files:
        raise CurationError("files", f"none; accepted: {ACCEPTED}")
    said = dict(answers or {})
    found = work_out(files, said)
    return Batch.objects.create(
        kind=BatchKind.EXPERIENCE,
        origin=name,
        format=found.format,
        files=dict(files),
        answers=said,
        plan=found.plan,
        author=by,
    )


def answer_questions(
    batch: Batch, answers: Mapping[str, str], by: Any, *, keep_others: bool = False
) -> Batch:
    """Say what names mean, key of the question → our name or `KEEP`, and plan anew.

    keep_others: everything without an answer stays as it is. A key `strategy@<file>:L<line>` names
    the strategy of one row. Raises Forbidden, Conflict and CurationError naming the field.
    """
    require_may_decide(batch, by)
    with turn(batch):
        require_open(batch)
        asked = {question["key"]: question["field"] for question in batch.plan["questions"]}
        said = dict(batch.answers)
        for key, answer in answers.items():
            of_row = key.startswith("strategy@")
            if key not in asked and not of_row:
                raise CurationError("answers", f"'{key[:80]}' is not asked")
            said[key] = require_answer("strategy" if of_row else asked[key], answer)
        if keep_others:
            said |= {key: KEEP for key in asked if not said.get(key)}
        said = {key: answer for key, answer in said.items() if answer}
        worked = work_out(batch.files, said)
        Batch.objects.filter(pk=batch.pk).update(answers=said, plan=worked.plan)
    batch.refresh_from_db()
    return batch


def read_experience_uploads(files: Sequence[File[Any]]) -> tuple[str, dict[str, str]]:
    """What to call it, and path → text. ImportRefused names a file that is not taken."""
    texts = read_brought(files, TAKEN, WORDS, MAX_FILE_BYTES).texts
    return (files[0].name or "upload") if len(files) == 1 else f"{len(files)} files", texts


def read_path(path: Path) -> tuple[str, dict[str, str]]:
    """The same for a file, a folder or a .zip of this machine."""
    if path.is_dir():
        texts = read_folder(path, TAKEN, as_documents=False)
        # The folders above say what a tips.md is about.
        above = "/".join(path.resolve().parts[1:][-3:])
        return path.name, {f"{above}/{name}": text for name, text in texts.items()}
    if not path.is_file():
        raise ImportRefused(f"{path}: no such file or folder")
    with File(path.open("rb"), path.name) as file:
        name, texts = read_experience_uploads([file])
    own = "/".join(path.resolve().parts[1:][-4:])
    return name, {own if n == path.name else n: text for n, text in texts.items()}
