"""`repository new|list|show|submit|run|patch|bundle|stop`: optimise a repository by its harness."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model

from campaigns.devices.discover import ensure_platform, this_device
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.launch import EvaluatorService
from campaigns.lineage.git import LineageError
from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument
from campaigns.models import EvaluationState, Submitter
from campaigns.records.device_waits import no_worker_told
from campaigns.repositories.hand_in import (
    HEAD,
    HandedChange,
    RepositoryRefused,
    add_repository,
    hand_in_change,
)
from campaigns.repositories.models import Repository, RepositoryRound
from campaigns.repositories.own_repository import OwnRepository
from campaigns.repositories.rounds import notify_next_round, release_rounds, stop_repository
from campaigns.repositories.sheet import RoundLine, line_of, sheet_of, summaries_of
from campaigns.repositories.try_change import try_change
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.worker import WorkerContext, choose_device, worker_beat
from knowledge.curation.errors import Forbidden
from knowledge.lookup.listing import PLATFORM_HELP, platform_named

COMMAND_LINE = "command line"
PATIENCE_S = 600.0
STDIN = "-"
# Of the command that failed; the page has all that is kept.
LOG_LINES = 12
SUBMIT = (
    argument("repository", type=int, help="its number"),
    argument("--patch", required=True, metavar="FILE", help="a diff of `git diff`; - reads it"),
    argument("--title", default="", help="the idea in a few words"),
    argument("--change", default="", help="what differs from the incumbent"),
    argument("--rationale", default="", help="why that should help"),
    argument("--target", default="", metavar="CLASS", help="the config class that is to gain"),
    argument("--repairs", type=int, metavar="ROUND", help="the failed round that this mends"),
    argument("--by", metavar="USER", help="the person whose change it is"),
    argument("--agent", metavar="NAME", help="the agent whose change it is"),
    argument("--local", action="store_true", help="try it now, in this process"),
)


class RepositoryCommand(BaseCommand):
    help = "Repositories: made faster by their own tests and benchmarks"

    def verbs(self) -> tuple[Verb, ...]:
        key = argument("repository", type=int, help="its number")
        output = argument("--output", type=Path, metavar="FILE", help="default: standard output")
        new = (
            argument("path", type=Path, help="a git repository, or a bundle of one"),
            argument("--harness", type=Path, required=True, metavar="FILE", help="its TOML"),
            argument("--revision", default=HEAD, help=f"a branch, tag or commit; default: {HEAD}"),
            argument("--platform", help=f"{PLATFORM_HELP}; default: this host's device"),
            argument("--local", action="store_true", help="measure the baseline in this process"),
        )
        return (
            Verb("new", "bring a repository; its baseline is the first round", self.new, new),
            Verb("list", "list repositories", self.list_all),
            Verb("show", "show one with its rounds", self.show, (key,)),
            Verb("submit", "hand in a change, with its hypothesis", self.submit, SUBMIT),
            Verb("run", "try what waits, in this process", self.run_here, (key,)),
            Verb("patch", "write what was kept, for `git am`", self.patch, (key, output)),
            Verb("bundle", "write the branch, for `git fetch`", self.bundle, (key, output)),
            Verb("stop", "try no more of it", self.stop, (key,)),
        )

    def new(
        self, *, path: Path, harness: Path, revision: str, platform: str | None, local: bool
    ) -> None:
        found = platform_named(platform) if platform else ensure_platform(this_device())
        try:
            text = harness.read_text()
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{harness}: no such file")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(ExitCode.USAGE, f"{harness}: {error}; accepted: text in UTF-8")
        if not path.exists():
            self.fail(ExitCode.NOT_FOUND, f"{path}: no such repository")
        try:
            row = add_repository(path, text, found, revision=revision)
        except RepositoryRefused as error:
            where = f"{harness}: " if error.field in ("harness", "files.change") else ""
            self.fail(ExitCode.USAGE, f"{where}{error}")
        self.progress("what is not committed is not part of it")
        self._go_on(row, local=local)
        self._tell(row)

    def list_all(self) -> None:
        found = summaries_of(Repository.objects.select_related("platform"))
        lines = [f"{one.repository.pk:4} {one.repository.title:24} {one.headline}" for one in found]
        self.emit([_facts(one.repository) for one in found], "\n".join(lines))

    def show(self, *, repository: int) -> None:
        self._tell(self._get(repository))

    def submit(
        self,
        *,
        repository: int,
        patch: str,
        by: str | None,
        agent: str | None,
        local: bool,
        **said: Any,
    ) -> None:
        row = self._get(repository)
        try:
            text = sys.stdin.read() if patch == STDIN else Path(patch).read_text()
            handed = HandedChange(patch=text, **said)
            kind = Submitter.PERSON if agent is None else Submitter.AGENT
            person = get_user_model().objects.filter(username=by).first() if by else None
            if by and person is None:
                self.fail(ExitCode.NOT_FOUND, f"user {by!r}: no such user")
            made = hand_in_change(row, handed, kind, by or agent or COMMAND_LINE, person)
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{patch}: no such file")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(ExitCode.USAGE, f"{patch}: {error}; accepted: text in UTF-8")
        except Forbidden as error:
            self.fail(ExitCode.NOT_ALLOWED, str(error))
        except RepositoryRefused as error:
            code = ExitCode.NOT_ALLOWED if error.field == "repository" else ExitCode.USAGE
            self.fail(code, str(error))
        self._go_on(row, local=local)
        made.refresh_from_db()
        line = line_of(made)
        self.emit(_round_facts(made), "\n".join(_round_lines(line)))
        if local and made.verdict is not VerdictWord.ACCEPTED:
            self.fail(ExitCode.NOT_ACCEPTED, f"round {made.number}: {made.doing}")

    def run_here(self, *, repository: int) -> None:
        row = self._get(repository)
        self._go_on(row, local=True)
        self._tell(row)

    def patch(self, *, repository: int, output: Path | None) -> None:
        self._write(repository, output, "patch")

    def bundle(self, *, repository: int, output: Path | None) -> None:
        self._write(repository, output, "bundle")

    def stop(self, *, repository: int) -> None:
        row = self._get(repository)
        stop_repository(row)
        self._tell(row)

    def _write(self, key: int, output: Path | None, kind: str) -> None:
        row = self._get(key)
        if row.head == row.base:
            self.fail(ExitCode.NOT_FOUND, f"repository {row.pk}: no round has been kept")
        try:
            own, is_patch = OwnRepository(row.pk), kind == "patch"
            data = own.patch(row.base, row.head) if is_patch else own.bundle(row.base, row.branch)
            if output is None:
                self.stdout.flush()
                sys.stdout.buffer.write(data)
            else:
                output.write_bytes(data)
        except LineageError as error:
            self.fail(ExitCode.USAGE, str(error))
        except OSError as error:
            self.fail(ExitCode.USAGE, f"{output}: {error.strerror}")

    def _go_on(self, row: Repository, *, local: bool) -> None:
        """Have what waits tried: here, or by a worker."""
        if not local:
            notify_next_round(row)
            if warning := no_worker_told(row, "repository"):
                self.progress(warning)
            return
        name = f"local-repository-{row.pk}"
        device = choose_device(name)
        with EvaluatorService() as service:
            worker = worker_beat(name, device)
            context = WorkerContext(service, device, worker, patience_s=PATIENCE_S)
            try:
                while waiting := next(
                    (one for one in release_rounds() if one.repository_id == row.pk), None
                ):
                    self.progress(f"round {waiting.number}: {waiting.title}")
                    if try_change(waiting.pk, context) is None:
                        told = f"waits for a device of {waiting.repository.platform.slug}"
                        self.fail(ExitCode.USAGE, f"round {waiting.number} {told}")
                    waiting.refresh_from_db()
                    self.progress(f"  {waiting.doing}: {waiting.sentence}")
            except DeviceBusy as busy:
                self.fail(ExitCode.USAGE, str(busy))

    def _get(self, key: int) -> Repository:
        row = Repository.objects.select_related("platform").filter(pk=key).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"repository {key}: no such repository")
        return row

    def _tell(self, row: Repository) -> None:
        row.refresh_from_db()
        sheet = sheet_of(row)
        lines = [f"repository {row.pk}: {row.title} on {row.platform.name}", sheet.headline]
        for line in reversed(sheet.rounds):
            lines += ["", *_round_lines(line)]
        if sheet.kept:
            path, branch = OwnRepository(row.pk).path, row.branch
            lines += ["", "take it:", f"  git fetch {path} {branch}:{branch}"]
        if row.stop_sentence:
            lines += ["", f"stopped: {row.stop_sentence}"]
        self.emit(_facts(row), "\n".join(lines))


def _round_lines(line: RoundLine) -> list[str]:
    row = line.row
    lines = [f"round {row.number}: {row.title}", f"  {row.doing}: {row.sentence}".rstrip(": ")]
    if row.reason and row.log and not row.result:
        lines += [f"    {said}" for said in row.log.splitlines()[-LOG_LINES:]]
    if line.proven:
        words = line.proven.verdict.told(line.proven.sentence)
        lines.append(f"  kopt's judge, as a kernel of {line.proven.problem}: {words}")
    lines += [f"  {one.name:40} {one.gain.brief}" for one in line.classes]
    return lines


def _facts(row: Repository) -> dict[str, Any]:
    sheet = sheet_of(row)
    told = ("title", "source", "platform", "state", "base", "head", "branch")
    return {
        "id": row.pk,
        **{name: getattr(row, name) for name in told},
        "platform": row.platform.slug,
        "no_worker": no_worker_told(row, "repository"),
        "said": sheet.headline,
        "rounds": [_round_facts(line.row) for line in reversed(sheet.rounds)],
    }


def _round_facts(row: RepositoryRound) -> dict[str, Any]:
    told = ("number", "title", "state", "verdict", "reason", "sentence", "target")
    return {
        **{name: getattr(row, name) for name in told},
        "verdict": str(row.verdict or ""),
        "by": row.name,
        "commit": row.commit,
        "result": row.result,
        "proven": row.proven,
        "done": row.state == EvaluationState.DONE,
    }
