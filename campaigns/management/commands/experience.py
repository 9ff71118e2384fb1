"""`experience`: what the team has learned: add, ask, search, list, merge, sync, count, exchange."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from campaigns.management import experience_verbs as options
from campaigns.management.base_command import ExitCode, ImportCommand, Verb
from campaigns.management.experience_verbs import (
    WRITERS,
    answers_of,
    asked,
    entry_at,
    entry_line,
    lesson_lines,
    merge_groups,
    plan_text,
    recommendation_record,
    recommendation_text,
    statistics_text,
    sync,
    told_attempt,
)
from knowledge.curation.errors import Conflict, CurationError
from knowledge.exchange.batches import confirm
from knowledge.experience.attempts.merging import candidates, unmerge
from knowledge.experience.exchange.naming import LEAVE_OUT, UNREAD
from knowledge.experience.exchange.note_attempt import note_attempt
from knowledge.experience.exchange.plan import answer_questions, plan_import, read_path
from knowledge.experience.lessons.ask import lessons_for
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.writers.selection import Selection, entry_record, lesson_record
from knowledge.experience.writers.statistics import statistics
from knowledge.models import Batch, BatchKind, BatchState
from knowledge.search.find import ask, search


class Command(ImportCommand):
    kind = BatchKind.EXPERIENCE
    exits = {Conflict: ExitCode.NOT_ALLOWED}
    help = "What the team has learned: add, recommend, search, list, merge, sync, stats, exchange."

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("add", "an attempt that was made elsewhere", self.add, options.ADD),
            Verb("recommend", "what to try next, with reasons", self.recommend, options.RECOMMEND),
            Verb("search", "over all that was learned", self.search, options.SEARCH),
            Verb("list", "attempts, the newest first", self.list_all, options.LIST),
            Verb("merge", "what could be one; or make it one", self.merge, options.MERGE),
            Verb("sync", "names, records, rounds and index anew", self.sync, options.SYNC),
            Verb("stats", "totals, gains and predictions", self.stats, options.SELECTED),
            Verb("tips", "the lessons that hold somewhere", self.tips, options.TIPS),
            Verb("import", "plan an import, or carry it out", self.bring, options.IMPORT),
            *self.import_verbs(
                self.confirm, options.ANSWER, options.KEEP_OTHERS, options.LEAVE_OUT
            ),
            Verb("export", "write it down as JSON, CSV or Markdown", self.export, options.EXPORT),
        )

    def add(self, by: str | None, **attempt: Any) -> None:
        made = note_attempt(told_attempt(attempt), self.user(by))
        # Where its label is another one than was given, its notes end with that.
        note = made.notes.rpartition("\n")[2]
        if note.startswith("Its source calls it"):
            self.progress(note)
        self.emit(entry_record(made), entry_line(made))

    def recommend(self, limit: int, **facets: Any) -> None:
        found = recommend(asked(facets), self._positive("-n", limit))
        self.emit(recommendation_record(found), recommendation_text(found))

    def search(self, query: list[str], limit: int, **facets: str) -> None:
        found = search(ask(" ".join(query), facets), self._positive("-n", limit))
        lines = []
        for name, hits in found.sections.items():
            if len(hits):
                lines.append(f"{name.replace('_', ' ')} ({hits.count}{'+' * hits.more}):")
            for hit in hits:
                mark = f" ({hit.mark})" if hit.mark else ""
                lines.append(f"  {hit.title}{mark}  {hit.url}")
        self.emit(found.records(), "\n".join(lines))
        if not found.found:
            left = ", ".join(
                f"{each.count} outside of {each.facet.name}={each.facet.value}"
                for each in found.excluded
            )
            self.progress(f"nothing is found in this scope{f'; left out: {left}' if left else ''}")

    def list_all(self, kernel: str, limit: int, **facets: str) -> None:
        rows = list(Selection(op=kernel, **facets).entries()[: self._positive("--limit", limit)])
        self.emit([entry_record(row) for row in rows], "\n".join(map(entry_line, rows)))

    def merge(
        self, groups: list[str] | None, undo: str | None, by: str | None, **choices: Any
    ) -> None:
        if undo:
            done = [unmerge(entry_at(undo), self.user(by), choices["why"])]
        elif groups:
            done = merge_groups(groups, choices, self.user(by))
        else:
            found = candidates()
            records, lines = [], []
            for group in found:
                opposite = "; opposite outcomes, --decide says why they are one"
                lines.append(f"{group.count} of {group.track}{opposite * group.needs_decision}")
                lines += [f"  {entry_line(entry)}" for entry in group.entries]
                records.append(
                    {
                        "context": str(group.track),
                        "count": group.count,
                        "needs_decision": group.needs_decision,
                        "entries": [entry_record(entry) for entry in group.entries],
                    }
                )
            self.emit(records, "\n".join(lines))
            return
        self.emit([entry_record(entry) for entry in done], "\n".join(map(entry_line, done)))

    def sync(self, out: Path | None, **_: Any) -> None:
        try:
            done = sync(out)
        except OSError as error:
            self.fail(ExitCode.USAGE, f"out: {error}")
        text = f"{done['moved']} moved to another name, {done['learned']} rounds learned, "
        self.emit(done, f"{text}{done['indexed']} in the index")
        for path in done.get("written", ()):
            self.progress(f"wrote {path}")

    def stats(self, kernel: str, **facets: str) -> None:
        found = statistics(Selection(op=kernel, **facets))
        data = dataclasses.asdict(found) | {"failed": found.failed}
        self.emit(data, statistics_text(found))

    def tips(self, limit: int, **facets: Any) -> None:
        question = asked(facets | {"bottleneck": ""})
        found = lessons_for(
            op=question.op,
            backend=question.backend,
            platform=question.platform,
            arch=question.arch,
            dtype=question.dtype,
            limit=self._positive("-n", limit),
        )
        self.emit([lesson_record(each) for each in found], "\n".join(map(lesson_lines, found)))

    def bring(
        self,
        path: Path,
        confirm: bool,
        answers: list[str] | None,
        keep_others: bool,
        leave_out: bool,
        by: str | None,
        **_: Any,
    ) -> None:
        person = self.user(by)
        name, files = read_path(path)
        batch = plan_import(files, person, origin=name)
        self._answer(batch, answers, keep_others, leave_out, person)
        if confirm:
            self._confirm(batch, person)
            return
        self.emit({"import": batch.number, **batch.plan}, plan_text(batch))
        errors = batch.plan["counts"].get("error", 0)
        if errors:
            can = any(each["key"] == UNREAD for each in batch.plan["questions"])
            left = "; --leave-out leaves them out" if can else ""
            words = f"{errors} rows cannot be read; nothing can be imported{left}"
            self.fail(ExitCode.USAGE, words)
        self.progress(f"planned only: `experience confirm {batch.number}` does it")

    def confirm(
        self,
        number: int,
        answers: list[str] | None,
        keep_others: bool,
        leave_out: bool,
        by: str | None,
        **_: Any,
    ) -> None:
        batch, person = self.batch(number), self.user(by)
        self._answer(batch, answers, keep_others, leave_out, person)
        self._confirm(batch, person)

    def export(self, form: str, out: Path | None, kernel: str, **facets: str) -> None:
        text = WRITERS[form](Selection(op=kernel, **facets))
        if out is None:
            self.say(text, ending="")
            return
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            self.fail(ExitCode.USAGE, f"out: {error}")
        self.emit({"written": str(out), "characters": len(text)}, f"wrote {out}")

    def _answer(
        self, batch: Batch, answers: list[str] | None, keep: bool, leave_out: bool, person: Any
    ) -> None:
        asked = batch.plan.get("questions", ())
        leave_out = leave_out and any(each["key"] == UNREAD for each in asked)
        if answers or keep or leave_out:
            answered = answers_of(asked, answers or ()) | ({UNREAD: LEAVE_OUT} if leave_out else {})
            answer_questions(batch, answered, person, keep_others=keep)

    def _confirm(self, batch: Batch, person: Any) -> None:
        try:
            made = confirm(batch, person)
        finally:
            if batch.state == BatchState.PLANNED:
                self.progress(plan_text(batch))
        counts = ", ".join(f"{n} {name}" for name, n in made.items())
        self.emit({"import": batch.number, **made}, f"import {batch.number} is done: {counts}")
        self.progress(f"`experience undo {batch.number} --why …` takes it back")

    def _positive(self, name: str, number: int) -> int:
        if not 1 <= number <= 10_000:
            raise CurationError(name, f"{number}; accepted: 1 to 10,000")
        return number
