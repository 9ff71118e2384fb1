"""Build, test and benchmark a change beside its incumbent, in two trees of the repository (R9).

The figures come from the project's own harness, in processes in which the candidate's code runs.
What holds them together is ours: both trees are whole, the files of the harness are those of the
commit before every run, runs alternate A B B A, and all of it happens under one hold of the device.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.evaluator.contract.looks import Pair
from campaigns.repositories.harness import CommandEnd, HostBroken, WorkTree
from campaigns.repositories.own_repository import OwnRepository
from campaigns.rules.harness.decide import HarnessResult, compare
from campaigns.rules.harness.description import Better, Harness
from campaigns.rules.verdict.decision import Reason

MOST_ROWS = 10_000
SHOWN = 3


class TableError(ValueError):
    """A table that cannot be compared; one line names the column and the row."""


@dataclass(frozen=True, slots=True)
class Table:
    """values: row → metric, in the table's own unit. classes: row → config class.

    wrong: for each row whose result is wrong, the row and what its column says.
    """

    values: Mapping[str, float]
    classes: Mapping[str, str]
    wrong: tuple[str, ...]


def read_table(data: bytes, harness: Harness) -> Table:
    """Read CSV text. A row is named by its class and its place in it. Raises TableError."""
    frame = _frame(data, harness)
    classes = [
        ", ".join(f"{name}={value}" for name, value in zip(harness.classes, row, strict=True))
        for row in frame[list(harness.classes)].itertuples(index=False)
    ]
    grouped = frame.assign(_class=classes).groupby("_class", sort=False)
    place, size = grouped.cumcount() + 1, grouped["_class"].transform("size")
    names = [
        kind if of == 1 else f"{kind} #{nth}"
        for kind, nth, of in zip(classes, place, size, strict=True)
    ]
    column = frame[harness.metric]
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    for at in np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))[:1]:
        raise TableError(
            f"table, row {at + 1} ({names[at]}): {harness.metric}: {column.iloc[at]!r:.40}; "
            "accepted: a number above zero"
        )
    values = dict(zip(names, numbers.tolist(), strict=True))
    wrong = tuple(
        f"{name}: {harness.correct} is {cell}"
        for name, cell in zip(names, frame[harness.correct], strict=True)
        if not harness.accept.holds(cell)
    )
    return Table(values, dict(zip(names, classes, strict=True)), wrong)


def paired(
    before: Table, after: Table, better: Better
) -> tuple[dict[str, tuple[float, float]], str]:
    """Row → (incumbent, candidate) as values that are better when lower; and what is amiss.

    The second value is "" or one line: both tables have to have the same rows.
    """
    if before.values.keys() != after.values.keys():
        missing = [row for row in before.values if row not in after.values]
        more = [row for row in after.values if row not in before.values]
        what = f"lacks {_listed(missing)}" if missing else f"has besides {_listed(more)}"
        return {}, f"the candidate's table {what}"
    turned = better is Better.HIGHER
    pairs = {
        row: (1 / value, 1 / after.values[row]) if turned else (value, after.values[row])
        for row, value in before.values.items()
    }
    return pairs, ""


def _frame(data: bytes, harness: Harness) -> pd.DataFrame:
    try:
        frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.ParserError) as error:
        first = str(error).strip().splitlines()[0]
        raise TableError(f"table: {first:.200}; accepted: CSV with a header") from None
    frame.columns = [str(name).strip() for name in frame.columns]
    for name in (harness.metric, harness.correct, *harness.classes):
        if name not in frame.columns:
            there = ", ".join(map(str, frame.columns))
            raise TableError(f"table: no column {name!r}; there are: {there:.300}")
    if not 0 < len(frame) <= MOST_ROWS:
        raise TableError(f"table: {len(frame)} rows; accepted: 1 to {MOST_ROWS}")
    return frame


def _listed(rows: Sequence[str]) -> str:
    more = len(rows) - SHOWN
    return "; ".join(rows[:SHOWN]) + (f" and {more} more" if more > 0 else "")


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
        if self.harness.test:
            new.restore()
            ended = new.run(self.harness.test, self._still("testing the candidate"))
            _require(ended, "the test", Reason.WRONG_RESULT)
        new.restore()
        return self._compared(old, new, built)

    def _prepared(self, name: str, commit: str, changed: tuple[str, ...]) -> WorkTree:
        """The files of a commit, built: the incumbent's built files where these still serve."""
        files = self.repository.files(commit)
        tree = WorkTree(self.folder / name, self.harness, self.repository, files, self.device)
        kept = built_files(self.repository.key, self.before)
        if kept.is_dir() and not self.harness.needs_build(changed):
            if _copy(kept, tree.folder):
                for path in changed:
                    tree.put(path, tree.files.get(path))
                return tree
            shutil.rmtree(tree.folder, ignore_errors=True)
        self.repository.write_out(commit, tree.folder)
        if self.harness.build:
            ended = tree.run(self.harness.build, self._still(f"building the {name}"))
            _require(ended, "the build", Reason.BUILD_FAILED)
        return tree

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
        ended, data = tree.benchmark(still)
        _require(ended, "the benchmark", Reason.CRASHED)
        if data is None:
            said = f"the benchmark wrote no plain file {self.harness.csv}"
            raise Failed(Reason.WRONG_RESULT, said, ended.log)
        try:
            table = read_table(data, self.harness)
        except TableError as error:
            raise Failed(Reason.WRONG_RESULT, str(error), ended.log) from None
        if table.wrong:
            said = f"{_listed(table.wrong)}; accepted: {self.harness.accept}"
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
