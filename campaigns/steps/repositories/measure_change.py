"""Build, test and benchmark a change beside its incumbent, in two trees of the repository (R9).

The figures come from the project's own harness, in processes in which the candidate's code runs.
What holds them together is ours: both trees are whole, the files of the harness are those of the
commit before every run, runs alternate A B B A, and all of it happens under one hold of the device.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.harness.command import CommandEnd, HostBroken
from campaigns.devices.harness.table import Table, TableError, paired, read_table
from campaigns.devices.harness.tree import WorkTree
from campaigns.lineage.own_repository import OwnRepository
from campaigns.rules.harness.decide import HarnessResult, compare
from campaigns.rules.harness.description import Harness
from campaigns.rules.noise.gain import Pair
from campaigns.rules.verdict.decision import Reason

SHOWN = 3


class Failed(Exception):
    """The candidate is refused before it is timed, for this reason. log: what was printed last.

    over: whether a command went over its disk or memory.
    """

    def __init__(self, reason: Reason, sentence: str, log: str = "", *, over: bool = False) -> None:
        super().__init__(sentence)
        self.reason, self.sentence, self.log, self.over = reason, sentence, log, over


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """What the tables show, what the candidate printed last, and a copy of its built files."""

    result: HarnessResult
    log: str
    built: Path


@dataclass(frozen=True, slots=True)
class ChangeTrial:
    """One comparison. before, after: commits or trees of incumbent and candidate; the same of a
    baseline. folder: an empty one to work in. beat: called about every second with the phase.
    """

    repository: OwnRepository
    harness: Harness
    before: str
    after: str
    folder: Path
    device: Device
    beat: Callable[[str], None]

    def run(self) -> MeasuredChange:
        """Raises Failed, HostBroken, LineageError, PatchRefused, and what `beat` raises."""
        changed = self.repository.changed(self.before, self.after)
        try:
            old = self._prepared("incumbent", self.before, ())
        except Failed as failed:
            raise _of_incumbent(failed) from None
        new = self._prepared("candidate", self.after, changed)
        built = self.folder / "built"
        # Before any run: what a run leaves behind is for nobody to find.
        _copy(new.folder, built)
        self._test(new)
        return self._compared(old, new, built)

    def _prepared(self, name: str, commit: str, changed: tuple[str, ...]) -> WorkTree:
        """The files of a commit, built: the incumbent's built files where these still serve."""
        tree = WorkTree(
            self.folder / name, self.harness, self.repository.files(commit), self.repository.blob
        )
        kept = built_files(self.repository.key, self.before)
        if kept.is_dir() and not self.harness.needs_build(changed):
            if _copy(kept, tree.folder):
                for path in changed:
                    tree.put(path, tree.files.get(path))
                return tree
            shutil.rmtree(tree.folder, ignore_errors=True)
        self.repository.write_out(commit, tree.folder)
        if self.harness.build:
            ended = tree.build(self.device, self._still(f"building the {name}"))
            _require(ended, "the build", Reason.BUILD_FAILED)
        return tree

    def _test(self, tree: WorkTree) -> None:
        if self.harness.test:
            tree.restore()
            ended = tree.test(self.device, self._still("testing the candidate"))
            _require(ended, "the test", Reason.WRONG_RESULT)
        tree.restore()

    def _compared(self, old: WorkTree, new: WorkTree, built: Path) -> MeasuredChange:
        """Run both in turns. The first pair is checked like the others, and not timed."""
        pairs: dict[str, list[Pair]] = {}
        rewritten: dict[bool, frozenset[str]] = {False: frozenset(), True: frozenset()}
        for turn in range(self.harness.pairs + 1):
            still = self._still(f"benchmarking, {turn} of {self.harness.pairs + 1} runs each")
            tables: dict[bool, Table] = {}
            log = ""
            for is_new in (True, False) if turn % 2 else (False, True):
                tree = new if is_new else old
                try:
                    tables[is_new], log = self._benchmark(tree, still)
                except Failed as failed:
                    raise failed if is_new else _of_incumbent(failed) from None
                rewritten[is_new] |= tree.restore()
            if tampered := sorted(rewritten[True] - rewritten[False]):
                said = f"it changed {', '.join(tampered[:SHOWN])} while it ran"
                raise Failed(Reason.CHEATED, said, log)
            found, amiss = paired(tables[False], tables[True], self.harness.better)
            if amiss:
                raise Failed(Reason.WRONG_RESULT, amiss, log)
            for row, pair in found.items() if turn else ():
                pairs.setdefault(row, []).append(pair)
        return MeasuredChange(compare(pairs, tables[True].classes, self.harness), log, built)

    def _benchmark(self, tree: WorkTree, still: Callable[[], None]) -> tuple[Table, str]:
        """One run: its table, every row of it right. Raises Failed."""
        ended, data = tree.benchmark(self.device, still)
        _require(ended, "the benchmark", Reason.CRASHED)
        if data is None:
            said = f"the benchmark wrote no plain file {self.harness.csv}"
            raise Failed(Reason.WRONG_RESULT, said, ended.log)
        try:
            table = read_table(data, self.harness)
        except TableError as error:
            raise Failed(Reason.WRONG_RESULT, str(error), ended.log) from None
        if table.wrong:
            accepted = f"accepted: {self.harness.accept}"
            more = len(table.wrong) - SHOWN
            rest = f" and {more} more" if more > 0 else ""
            said = f"{'; '.join(table.wrong[:SHOWN])}{rest}; {accepted}"
            raise Failed(Reason.WRONG_RESULT, said, ended.log)
        return table, ended.log

    def _still(self, phase: str) -> Callable[[], None]:
        self.beat(phase)
        return lambda: self.beat(phase)


def built_files(key: int, commit: str) -> Path:
    """Where the built files of a repository's incumbent lie, if they are kept."""
    return Path(settings.DATA_DIR) / "built" / f"repository-{key}" / commit


def keep_built(key: int, commit: str, built: Path) -> None:
    """Keep the built files of a new incumbent in the place of those before it."""
    kept = built_files(key, commit)
    shutil.rmtree(kept.parent, ignore_errors=True)
    if built.is_dir():
        # What cannot be kept is built again.
        with suppress(OSError):
            kept.parent.mkdir(parents=True)
            shutil.move(built, kept)


def _copy(source: Path, target: Path) -> bool:
    """Copy a folder, links as links; False, and nothing is there, where that is not possible."""
    try:
        shutil.copytree(source, target, symlinks=True)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        return False
    return True


def _require(ended: CommandEnd, what: str, reason: Reason) -> None:
    """Raise Failed unless the command ended well."""
    if ended.status is None:
        raise Failed(Reason.TIMED_OUT, f"{what} took more than {ended.seconds:.0f} s", ended.log)
    if ended.over:
        raise Failed(reason, f"{what} {ended.over}", ended.log, over=True)
    if ended.status:
        raise Failed(reason, f"{what} ended with exit status {ended.status}", ended.log)


def _of_incumbent(failed: Failed) -> HostBroken | Failed:
    """The incumbent was right when it was kept: that it fails now says nothing of the candidate.

    One that goes over a limit is the harness's fault, which another host would not mend.
    """
    sentence = f"the incumbent: {failed.sentence}"
    if failed.over:
        return Failed(failed.reason, sentence, failed.log, over=True)
    return HostBroken(f"{sentence}\n{failed.log}".strip())
