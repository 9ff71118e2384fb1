"""`wiki`: bring documents in, check their citations, measure this device."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import connection

from campaigns.devices.discover import DeviceError, this_device
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.measuring import measure_ceilings
from campaigns.evaluator.ceilings.result import CeilingsError
from campaigns.management.door import Door, ExitCode, Verb, argument
from knowledge.check import Problem, check_wiki
from knowledge.folder import ImportRefused, read_folder
from knowledge.importer import SHIPPED, import_wiki
from knowledge.models import Document
from knowledge.specs.citation import CitationState, resolve
from knowledge.specs.reader import ReaderError, read_page


class Command(Door):
    help = "The hardware wiki: import, check, ceilings."

    def verbs(self) -> tuple[Verb, ...]:
        folder = argument(
            "folder", nargs="?", type=Path, default=SHIPPED, help="default: the shipped wiki"
        )
        approve = argument(
            "--approve",
            action="store_true",
            help="vouch for changed lines: they replace the old ones without a review",
        )
        device = argument("--device", help="cpu or cuda:<index>; default: the one measured on")
        return (
            Verb(
                "import", "store the documents of a folder", self.import_folder, (folder, approve)
            ),
            Verb(
                "check", "do all citations still hold? exit 1 if not", self.check_folder, (folder,)
            ),
            Verb("ceilings", "measure a device and store the document", self.ceilings, (device,)),
        )

    def import_folder(self, folder: Path, approve: bool, **options: Any) -> None:
        try:
            summary = import_wiki(folder, vouched=approve)
        except ImportRefused as error:
            self.fail(ExitCode.USAGE, str(error))
        counts = asdict(summary)
        if summary.flags_raised:
            self.progress(
                f"{summary.flags_raised} citations do not hold any more; a curator answers at /w/"
            )
        text = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
        self.emit(counts, text)

    def check_folder(self, folder: Path, **options: Any) -> None:
        try:
            problems = check_files(folder)
            if not problems and _has_documents():
                problems = check_wiki(folder)
            elif not problems:
                self.progress("nothing is imported yet: the files alone were checked")
        except ImportRefused as error:
            self.fail(ExitCode.USAGE, str(error))
        self.emit([asdict(problem) for problem in problems], "\n".join(map(str, problems)))
        if problems:
            self.fail(ExitCode.USAGE, f"{len(problems)} citations or documents do not hold")
        self.progress("every citation holds")

    def ceilings(self, device: str | None, **options: Any) -> None:
        try:
            found = this_device(device)
            self.progress(f"measuring {found.device} ({found.name}) …")
            measured = measure_ceilings(found)
        except DeviceError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (CeilingsError, DeviceBusy, ImportRefused) as error:
            self.fail(ExitCode.USAGE, str(error))
        revision = measured.revision
        for note in measured.notes:
            self.progress(f"note: {note}")
        citations = [
            str(citation) for citation in revision.citations.select_related("spec", "revision")
        ]
        data = {
            "document": revision.document.path,
            "revision": revision.short,
            "citations": citations,
            "notes": list(measured.notes),
        }
        self.emit(data, "\n".join(citations))


def check_files(folder: Path) -> list[Problem]:
    """Lines of a folder's documents that cannot be read or do not hold what they are cited for."""
    problems = []
    for path, text in sorted(read_folder(folder).items()):
        try:
            page = read_page(path, text)
        except ReaderError as error:
            problems.append(Problem(path, "unreadable", str(error)))
            continue
        for spec in page.specs:
            citation = spec.citation(path)
            state = resolve(citation, spec.quote, text)
            if spec.facts.known and state is not CitationState.OK:
                problems.append(Problem(f"{path}:{citation.locator}", state, str(citation)))
    return problems


def _has_documents() -> bool:
    tables = connection.introspection.table_names()
    return Document._meta.db_table in tables and Document.objects.exists()
