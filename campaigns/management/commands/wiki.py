"""`wiki`: bring documents in and out, check their citations, measure this device."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaigns.devices.discover import this_device
from campaigns.devices.passport import measure_ceilings
from campaigns.evaluator.contract.ceilings import CeilingsError
from campaigns.management.base_command import ExitCode, ImportCommand, Verb, argument, batch_record
from knowledge.curation.errors import Conflict
from knowledge.curation.warn import contradictions
from knowledge.exchange.batches import confirm
from knowledge.exchange.check import WikiFault, check_wiki
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.importer import SHIPPED, origin_of
from knowledge.exchange.in_parts import begin_import, is_large, work_on
from knowledge.exchange.plan import counts, plan_import
from knowledge.exchange.readers.bundle import read_document
from knowledge.exchange.readers.files import TAKEN, ImportRefused, WikiFiles, read_folder
from knowledge.exchange.readers.foreign import LineFate
from knowledge.exchange.take_documents import ImportSummary
from knowledge.exchange.writers.export import ExportRefused, export_folder
from knowledge.lookup.database import EmptyDatabase
from knowledge.lookup.listing import documents_with, snippets
from knowledge.models import Batch, BatchKind, BatchState, Document
from knowledge.specs.citation import CitationState, resolve


class Command(ImportCommand):
    kind = BatchKind.WIKI
    exits = {Conflict: ExitCode.USAGE, CeilingsError: ExitCode.USAGE, ExportRefused: ExitCode.USAGE}
    help = (
        "The hardware wiki: search, import, imports, confirm, drop, undo, export, check, ceilings."
    )

    def verbs(self) -> tuple[Verb, ...]:
        folder = argument(
            "folder", nargs="?", type=Path, default=SHIPPED, help="default: the shipped wiki"
        )
        approve = argument(
            "--approve",
            action="store_true",
            help="vouch for changed lines: they replace the old ones without a review",
        )
        plan = argument(
            "--plan", action="store_true", help="only plan: show what would happen, import nothing"
        )
        out = argument("folder", type=Path, help="an empty folder, or an earlier export")
        device = argument("--device", help="cpu or cuda:<index>; default: the one measured on")
        words = argument("words", nargs="+", help="all of them, in path, title or newest text")
        return (
            Verb("search", "documents with these words, and the line", self.search, (words,)),
            Verb(
                "import",
                "store the documents and records of a folder",
                self.import_folder,
                (folder, approve, plan),
            ),
            *self.import_verbs(self.confirm),
            Verb("export", "write a folder that can be imported again", self.export, (out,)),
            Verb(
                "check", "do all citations still hold? exit 1 if not", self.check_folder, (folder,)
            ),
            Verb("ceilings", "measure a device and store the document", self.ceilings, (device,)),
        )

    def search(self, words: list[str], **options: Any) -> None:
        found = list(documents_with(" ".join(words)))
        lines = snippets(found, " ".join(words))
        rows = [(each.path, each.title, *lines.get(each.pk, (None, ""))) for each in found]
        self.emit(
            [dict(zip(("path", "title", "line", "text"), row, strict=True)) for row in rows],
            "\n".join(f"{path}:L{line or 1}: {text or title}" for path, title, line, text in rows),
        )
        if not found:
            self.fail(ExitCode.NOT_FOUND, f"no document holds all words of '{' '.join(words)}'")

    def import_folder(self, folder: Path, approve: bool, plan: bool, **options: Any) -> None:
        brought = WikiFiles(origin_of(folder), read_folder(folder, TAKEN))
        if plan:
            self._emit_plan(plan_import(brought, None))
            return
        batch, summary = take_at_once(brought, vouched=approve, tell=self._show_progress)
        self._emit_summary(summary, batch)

    def _emit_summary(self, summary: ImportSummary, batch: Batch | None) -> None:
        if summary.flags_raised:
            self.progress(
                f"{summary.flags_raised} citations no longer match their documents; "
                "a curator answers them at /w/"
            )
        for platform in summary.platforms:
            if not platform.is_new:
                self.progress(f"platform {platform.slug} has a new description: {platform.change}")
        for outcome in summary.told:
            if outcome.fate in (LineFate.UNRESOLVED, LineFate.LEFT_OUT):
                self.progress(f"{outcome.file}:L{outcome.line}: {outcome.fate}: {outcome.why}")
        for contradiction in contradictions(batch) if batch is not None else ():
            self.progress(f"warning: {contradiction}")
        if batch is not None:
            self.progress(
                f"this is import {batch.number}; `wiki undo {batch.number}` takes it back"
            )
        done = counts(summary)
        text = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.items())
        outcomes = [asdict(outcome) for outcome in summary.told]
        platforms = [asdict(platform) for platform in summary.platforms]
        self.emit(done | {"platforms": platforms, "outcomes": outcomes}, text)

    def _emit_plan(self, batch: Batch) -> None:
        rows = [f"{row['outcome']:<10} {row['path']}" for row in batch.plan["documents"]]
        rows += [f"platform   {p['slug']}: {p['change']}" for p in batch.plan["platforms"]]
        rows += [
            f"{t['fate']:<10} {t['file']}:L{t['line']}: {t['why']}" for t in batch.plan["told"]
        ]
        self.emit({"import": batch.number, **batch.plan}, "\n".join(rows))
        self.progress(f"planned only, as import {batch.number}: {batch.get_absolute_url()}")
        refused = [row for row in batch.plan["documents"] if row["outcome"] == "refused"]
        for row in refused:
            self.progress(row["note"])
        if refused:
            self.fail(ExitCode.USAGE, f"{len(refused)} files are refused; nothing can be imported")
        self.progress(
            f"`wiki confirm {batch.number}` does it, `wiki drop {batch.number}` forgets it"
        )

    def confirm(self, number: int, by: str | None, **options: Any) -> None:
        batch, person = self.batch(number), self.user(by)
        if batch.state != BatchState.TAKING and not is_large(batch):
            self._emit_summary(confirm(batch, person), batch)
            return
        if batch.state != BatchState.TAKING:
            begin_import(batch, person)
        work_on(batch.pk, self._show_progress)
        batch.refresh_from_db()
        if batch.state != BatchState.CONFIRMED:
            self.fail(ExitCode.USAGE, f"{batch} is {batch.get_state_display()}: {batch.why}")
        self.emit(batch_record(batch), f"{batch} is done")

    def _show_progress(self, done: int, of: int) -> None:
        self.progress(f"{done:,} of {of:,} documents")

    def export(self, folder: Path, **options: Any) -> None:
        try:
            files = export_folder(folder)
        except OSError as error:
            self.fail(ExitCode.USAGE, str(error))
        self.emit({"folder": str(folder), "files": files}, f"{files} files in {folder}")

    def check_folder(self, folder: Path, **options: Any) -> None:
        problems = check_files(folder)
        if not problems:
            try:
                is_imported = Document.objects.exists()
            except EmptyDatabase:
                is_imported = False
            if is_imported:
                problems = check_wiki(folder)
            else:
                self.progress("nothing is imported yet: the files alone were checked")
        self.emit([asdict(problem) for problem in problems], "\n".join(map(str, problems)))
        if problems:
            self.fail(ExitCode.USAGE, f"{len(problems)} citations or documents do not hold")
        self.progress("every citation holds")

    def ceilings(self, device: str | None, **options: Any) -> None:
        found = this_device(device)
        self.progress(f"measuring {found.device} ({found.name}) …")
        measured = measure_ceilings(found)
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


def check_files(folder: Path) -> list[WikiFault]:
    """Lines of a folder's documents that cannot be read or do not hold what they are cited for."""
    problems = []
    for path, text in sorted(read_folder(folder).items()):
        try:
            page = read_document(path, text)
        except ImportRefused as error:
            problems.append(WikiFault(path, "unreadable", str(error)))
            continue
        for spec in page.specs:
            citation = spec.citation(path)
            state = resolve(citation, spec.quote, text)
            if spec.facts.known and state is not CitationState.OK:
                problems.append(WikiFault(f"{path}:{citation.locator}", state, str(citation)))
    return problems
