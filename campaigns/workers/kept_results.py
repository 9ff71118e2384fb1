"""Results on this disk until the database has them: a file a claim, in DATA_DIR/results."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from campaigns.evaluator.contract import ContractError, Report, dump, load_report

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptResult:
    """What one claim has measured. claims: how often the evaluation had been claimed by then."""

    path: Path
    evaluation: int
    holder: str
    claims: int
    report: Report

    def forget(self) -> None:
        """Remove the file: the result is stored, or of no use."""
        self.path.unlink(missing_ok=True)


def keep_result(evaluation: int, holder: str, claims: int, report: Report) -> KeptResult | None:
    """Write a result down, whole or not at all; None where this disk cannot take it."""
    claim = {"evaluation": evaluation, "holder": holder, "claims": claims}
    text = json.dumps({**claim, "report": dump(report)})
    folder = _folder()
    path = folder / f"evaluation-{evaluation}-{claims}.json"
    part = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.replace(part, path)
    except OSError as error:
        log.warning("evaluation %s: its result is not kept in %s: %s", evaluation, folder, error)
        Path(part or path).unlink(missing_ok=True)
        return None
    return KeptResult(path, evaluation, holder, claims, report)


def kept_results() -> Iterator[KeptResult]:
    """What an earlier try could not store. A file that says nothing to this version is removed."""
    for path in sorted(_folder().glob("evaluation-*.json")):
        try:
            said = json.loads(path.read_text())
            found = KeptResult(
                path,
                said["evaluation"],
                said["holder"],
                said["claims"],
                load_report(said["report"]),
            )
        except FileNotFoundError:
            continue  # another process has just stored it
        except (ValueError, KeyError, TypeError, ContractError) as error:
            log.warning("%s: no result of this version, removed: %s", path, error)
            path.unlink(missing_ok=True)
            continue
        yield found


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "results"
