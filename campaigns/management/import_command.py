"""What commands that import have in common: list imports, confirm, drop and undo one by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from campaigns.management.base_command import Argument, BaseCommand, ExitCode, Verb, argument
from knowledge.exchange.batches import drop, undo
from knowledge.models import Batch, BatchKind

BY = argument("--by", metavar="USER", help="the user who does it; default: this installation")
Act = Callable[..., None]


class ImportCommand(BaseCommand):
    """kind: of its imports."""

    kind: ClassVar[BatchKind]

    def import_verbs(self, carry_out: Act, *confirming: Argument) -> tuple[Verb, ...]:
        """The verbs. carry_out: what `confirm` does; confirming: further arguments of it."""
        number = argument("number", type=int, help=f"as `{self.kind} imports` lists it")
        why = argument("--why", required=True, help="the reason, which is kept in the history")
        because = argument("--why", default="", help="an optional reason")
        confirm = (number, *confirming, BY)
        return (
            Verb("imports", "list imports, newest first", self.imports),
            Verb("confirm", "carry out a planned import", carry_out, confirm),
            Verb("drop", "discard a planned import", self.drop, (number, because, BY)),
            Verb("undo", "undo an import as a whole", self.undo, (number, why, BY)),
        )

    def imports(self, **_: Any) -> None:
        rows = Batch.objects.filter(kind=self.kind).select_related("author").defer("files")
        batches = [batch_record(batch) for batch in rows]
        lines = [f"{b['import']:>4}  {b['state']:<9}  {b['origin']}  {b['why']}" for b in batches]
        self.emit(batches, "\n".join(line.rstrip() for line in lines))
        if not batches:
            self.progress(f"no import yet; `{self.kind} import` makes one")

    def drop(self, number: int, why: str, by: str | None, **_: Any) -> None:
        batch = self.batch(number)
        drop(batch, self.user(by), why)
        self.emit(batch_record(batch), f"{batch} was dropped")

    def undo(self, number: int, why: str, by: str | None, **_: Any) -> None:
        batch = self.batch(number)
        undo(batch, self.user(by), why)
        self.emit(batch_record(batch), f"{batch} was undone")

    def batch(self, number: int) -> Batch:
        """The import of this kind with this number."""
        found = Batch.objects.numbered(self.kind, number).first()
        if found is None:
            said = f"no import {number}; `{self.kind} imports` lists them"
            self.fail(ExitCode.NOT_FOUND, said)
        return found


def batch_record(batch: Batch) -> dict[str, Any]:
    """One import, without its plan."""
    return {
        "import": batch.number,
        "origin": batch.origin,
        "state": batch.state,
        "author": batch.author.get_username() if batch.author else None,
        "created_at": batch.created_at.isoformat(timespec="seconds"),
        "at": batch.created_at.isoformat(),
        "why": batch.why,
        "done": batch.plan.get("done", batch.plan.get("made", {})),
    }
