"""What commands share: verbs, `--json`, exit codes, data on stdout, progress on stderr; imports."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar

from django.contrib.auth import get_user_model
from django.core.management import base
from django.core.management.base import CommandError, handle_default_options
from django.db import DatabaseError, OperationalError, connection, connections
from django.db.models import Model, QuerySet

from campaigns.devices.discover import DeviceError
from campaigns.devices.hold import DeviceBusy
from campaigns.evaluator.contract.errors import printable
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import IllegalTransition
from campaigns.problems.shipped import UnknownProblem
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.exchange.batches import drop, undo
from knowledge.exchange.readers.files import ImportRefused
from knowledge.lookup.database import MissingMigrations, full_disk, require_migrations
from knowledge.lookup.listing import FilterError, NotKnown
from knowledge.models import Batch, BatchKind

Row = TypeVar("Row", bound=Model)
Exits = Mapping[type[Exception], "ExitCode"]


class ExitCode(IntEnum):
    """What a command's exit status says; 0 is ok."""

    OK = 0
    USAGE = 1
    NOT_FOUND = 2
    NOT_ALLOWED = 3
    NO_APPROVED_VALUE = 4
    NOT_ACCEPTED = 5


# What is refused below a command → how the command ends, with the error's own words.
EXITS: Exits = {
    NotKnown: ExitCode.NOT_FOUND,
    UnknownProblem: ExitCode.NOT_FOUND,
    DeviceError: ExitCode.NOT_FOUND,
    CurationError: ExitCode.USAGE,
    FilterError: ExitCode.USAGE,
    ImportRefused: ExitCode.USAGE,
    DeviceBusy: ExitCode.USAGE,
    ProblemError: ExitCode.USAGE,
    Forbidden: ExitCode.NOT_ALLOWED,
    IllegalTransition: ExitCode.NOT_ALLOWED,
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument in argparse's own words."""

    flags: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of a noun: its name, one line of help, what runs it, and its arguments.

    run: called with the parsed options as keywords, less those that Django adds itself.
    """

    name: str
    help: str
    run: Callable[..., None]
    arguments: tuple[Argument, ...] = ()


def argument(*flags: str, **options: Any) -> Argument:
    """Describe an argument as `add_argument` takes it."""
    return Argument(flags, options)


JSON = argument("--json", action="store_true", dest="as_json", help="print data as JSON")


class BaseCommand(base.BaseCommand):
    """A command with verbs (`verbs`), or one without (`arguments` and `run`).

    A command answers with `emit`, reports progress with `progress` and ends early with `fail`. What
    its steps refuse ends it as `EXITS` says, or as its own `exits`, which count first.
    """

    requires_system_checks = []
    exits: ClassVar[Exits] = {}

    def verbs(self) -> tuple[Verb, ...]:
        """The noun's verbs; empty for a command that is a verb itself."""
        return ()

    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a command without verbs."""
        return ()

    def run(self, **options: Any) -> None:
        """Do what a command without verbs does."""
        raise NotImplementedError(f"{type(self).__module__}: neither verbs nor run are defined")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        own = [(parser, self.arguments())]
        if verbs := self.verbs():
            nested = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
            own = [
                (
                    nested.add_parser(verb.name, help=verb.help, description=verb.help),
                    verb.arguments,
                )
                for verb in verbs
            ]
        for each, arguments in own:
            for item in (*arguments, JSON):
                each.add_argument(*item.flags, **item.options)

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = bool(options.pop("as_json", False))
        wanted = {k: v for k, v in options.items() if k not in _DJANGO_OPTIONS}
        name = wanted.pop("verb", None)
        run = next((verb.run for verb in self.verbs() if verb.name == name), self.run)
        exits = {**EXITS, **self.exits}
        try:
            with connection.execute_wrapper(_prepared_before()):
                run(**wanted)
        except tuple(exits) as error:
            code = next(exits[each] for each in type(error).__mro__ if each in exits)
            self.fail(code, self.said_of(error))
        except MissingMigrations as error:
            self.fail(ExitCode.USAGE, str(error))
        except (DatabaseError, OSError) as error:
            # The disk or the database; our own mistake keeps its traceback.
            if full := full_disk(error):
                self.fail(ExitCode.USAGE, full)
            # The plain class is what SQLite says of a file that is no database, or a damaged one.
            if not isinstance(error, OperationalError) and type(error) is not DatabaseError:
                raise
            said = str(error).strip().partition("\n")[0]
            self.fail(ExitCode.USAGE, f"database {connection.settings_dict['NAME']}: {said}")
        except Conflict as error:
            # A command may import the wiki first, and another process may hold the wiki.
            self.fail(ExitCode.USAGE, f"wiki: {error}")
        except KeyboardInterrupt:
            self.fail(ExitCode.USAGE, "interrupted")

    def said_of(self, error: Exception) -> str:
        """What the command says of an error that ends it."""
        return str(error)

    def user(self, name: str | None) -> Any:
        """The user of this name; None without a name. Ends the command for an unknown one."""
        if name is None:
            return None
        found = get_user_model().objects.filter(username=name).first()
        if found is None:
            self.fail(ExitCode.NOT_FOUND, f"user '{name}': no such user")
        return found

    def row(self, rows: QuerySet[Row], otherwise: str, **wanted: Any) -> Row:
        """The row; ends the command with `otherwise` where there is none."""
        fits = all(abs(value) < 2**63 for value in wanted.values() if isinstance(value, int))
        found = rows.filter(**wanted).first() if fits else None
        if found is None:
            self.fail(ExitCode.NOT_FOUND, otherwise)
        return found

    def write(self, out: Path, content: bytes, data: dict[str, Any]) -> None:
        """Write a file and answer with its name."""
        try:
            out.write_bytes(content)
        except OSError as error:
            self.fail(ExitCode.USAGE, f"{out}: {error.strerror}")
        self.emit({**data, "file": str(out)}, str(out))

    def emit(self, data: Any, text: str) -> None:
        """Print the answer: `data` as JSON with `--json`, else `text`."""
        answer = json.dumps(data, indent=1, default=str, allow_nan=False) if self.as_json else text
        if answer:
            self.say(answer)

    def say(self, text: str, ending: str = "\n") -> None:
        """Print text on stdout, without control characters."""
        self.stdout.write(printable(text), ending=ending)
        self.stdout.flush()

    def progress(self, text: str) -> None:
        """Say on stderr what is going on."""
        self.stderr.write(printable(text), style_func=str)
        self.stderr.flush()

    def fail(self, code: ExitCode, message: str) -> NoReturn:
        """End the command with one line on stderr and this exit status."""
        raise CommandError(message, returncode=int(code))

    def run_from_argv(self, argv: list[str]) -> None:
        """Run as Django does, but a usage error exits with 1, since 2 means "not found" here."""
        try:
            # Not "called from the command line": argparse's own errors then raise CommandError.
            parser = self.create_parser(argv[0], argv[1])
            options = vars(parser.parse_args(argv[2:]))
            handle_default_options(argparse.Namespace(**options))
            self.execute(*options.pop("args", ()), **options)
        except CommandError as error:
            # Many messages begin with the field that is wrong, which may be the command's own name.
            said = str(error).removeprefix(f"{argv[1]}: ")
            self.stderr.write(printable(f"{argv[1]}: {said}"), style_func=str)
            sys.exit(error.returncode)
        finally:
            connections.close_all()


_DJANGO_OPTIONS = frozenset(
    {"settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks", "verbosity"}
)


def _prepared_before() -> Callable[..., Any]:
    """What lets no query through while migrations are missing; not each command makes one."""
    looking = False

    def look(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal looking
        if not looking:
            looking = True  # the look makes queries itself
            try:
                require_migrations()
            finally:
                looking = False
        return execute(*statement)

    return look


BY = argument("--by", metavar="USER", help="the user who does it; default: this installation")


class ImportCommand(BaseCommand):
    """kind: of its imports."""

    kind: ClassVar[BatchKind]

    def import_verbs(
        self, carry_out: Callable[..., None], *confirming: Argument
    ) -> tuple[Verb, ...]:
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
