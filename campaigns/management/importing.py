"""`campaign import` and `campaign imported`: their arguments, and what they print."""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path
from typing import Any

from campaigns.management.base_command import BaseCommand, ExitCode, argument
from campaigns.models import ImportedCampaign
from campaigns.records.values import picked
from campaigns.rules.wording import as_claimed
from campaigns.steps.lifecycle.import_trail import PlannedImport, import_trail, plan_import
from campaigns.trails.exporters.archive import packed
from campaigns.trails.importers.claims import System, TrailRefused
from campaigns.trails.importers.trail import read_path

IMPORT = (
    argument("path", type=Path, help="a folder or a .zip: a trail of kopt, or of another system"),
    argument("--plan", action="store_true", help="say what would be stored, and store nothing"),
    argument("--source", choices=list(System), help="who wrote it, where files of several are in"),
)
IMPORTED = (
    argument("imported", type=int, nargs="?", help="the import's number; else all are listed"),
    argument("--out", type=Path, help="write the files of that one as a .zip"),
)


class ImportVerbs(BaseCommand):
    """The two verbs, for the command that has them."""

    def bring(self, *, path: Path, plan: bool, source: str | None) -> None:
        try:
            planned = plan_import(read_path(path), System(source) if source else None)
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{path}: no such file or folder")
        except TrailRefused as error:
            self.fail(ExitCode.USAGE, str(error))
        if plan or planned.there:
            told = planned_facts(planned) | ({} if plan else {"new": False})
            self.emit(told, planned_text(planned))
            return
        row, is_new = import_trail(planned)
        self.emit(planned_facts(planned) | {"imported": row.pk, "new": is_new}, imported_text(row))

    def imported(self, *, imported: int | None, out: Path | None) -> None:
        rows = ImportedCampaign.objects.all()
        if imported is None:
            if out:
                self.fail(ExitCode.USAGE, "out: without a number; accepted: that of an import")
            self.emit([imported_facts(r) for r in rows], "\n".join(map(imported_line, rows)))
            return
        row = rows.filter(pk=imported).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"import {imported}: no such import")
        if out is None:
            self.emit(imported_details(row), imported_text(row))
        else:
            files = row.files
            self.write(out, packed(row.name, files), {"imported": row.pk})


def planned_facts(planned: PlannedImport) -> dict[str, Any]:
    """What an import would store."""
    found = planned.claimed
    return {
        "imported": planned.there.pk if planned.there else None,
        "system": found.system.value,
        "name": planned.trail.name,
        "title": found.title,
        "rounds": len(found.rounds),
        "files": len(planned.trail.files),
        "left_out": list(planned.trail.left_out),
        "incumbent": found.incumbent,
        "stop_reason": found.stop_reason,
        "missing": list(found.missing),
        "figures": [claim.stored for claim in found.figures],
        "claims": [
            {
                **picked(one, "name status figure unit"),
                "gain": one.gain.value if one.gain else None,
                "place": f"{one.path}:L{one.line}",
            }
            for one in found.rounds
        ],
    }


def planned_text(planned: PlannedImport) -> str:
    """The same for people."""
    found = planned.claimed
    lines = [
        f"{planned.trail.name}: a trail of {found.system}, {_counted(found.rounds, 'round')}, "
        f"{_counted(planned.trail.files, 'file')}",
        *(f"left out: {name}" for name in planned.trail.left_out),
        *(f"missing: {name}" for name in found.missing),
        *(f"{claim.words} ({claim.path}:L{claim.line})" for claim in found.figures),
    ]
    for one in found.rounds:
        gain = f", claims {one.gain.value}× faster" if one.gain else ""
        claim = f"{as_claimed(one.figure, one.unit)}{gain}, {one.status or 'no status'}"
        lines.append(f"{one.name}: {claim} ({one.path}:L{one.line})")
    if planned.there:
        lines.append(f"the same content is there already, as imported campaign {planned.there.pk}")
    return "\n".join(lines)


def _counted(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def imported_facts(row: ImportedCampaign) -> dict[str, Any]:
    """One import, without its rounds."""
    names = "system name title operator platform backend incumbent stop_reason missing left_out"
    return {"imported": row.pk, **picked(row, f"{names} imported_at")}


def imported_line(row: ImportedCampaign) -> str:
    """One import in a line."""
    return f"{row.pk}: {row.heading}, claimed by {row.system}, {row.imported_at:%Y-%m-%d %H:%M}"


def imported_details(row: ImportedCampaign) -> dict[str, Any]:
    """One import with its claims and rounds."""
    names = (
        "ordinal number name title hypothesis rationale status kept masked figure unit metric "
        "convention amends path line kernel at claims missing"
    )
    rounds = [picked(one, names) for one in row.rounds.all()]
    return {**imported_facts(row), **picked(row, "facts tips"), "rounds": rounds}


def imported_text(row: ImportedCampaign) -> str:
    """The same for people."""
    lines = [imported_line(row)]
    lines += [f"best, as it says: {row.incumbent}"] if row.incumbent else []
    lines += [f"ended, as it says: {row.stop_reason}"] if row.stop_reason else []
    for one in row.rounds.all():
        marks = " hidden" if one.masked else ""
        amends = f", amends {one.amends}" if one.amends else ""
        claim = f"claims {one.claimed}, {one.status or 'no status'}"
        place = f"{one.path}:L{one.line}"
        lines.append(f"{one.name}{marks}: {claim}{amends}: {one.title or '–'} ({place})")
    lines += [f"missing: {name}" for name in row.missing]
    return "\n".join(lines)
