"""The table that a benchmark writes: one figure a row, config classes by its own columns (R18)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from campaigns.rules.harness.description import Better, Harness

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
    values = _values(frame[harness.metric], names, harness.metric)
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


def _values(column: pd.Series, names: list[str], metric: str) -> dict[str, float]:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    for place in np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))[:1]:
        cell = column.iloc[place]
        raise TableError(
            f"table, row {place + 1} ({names[place]}): {metric}: {cell!r:.40}; accepted: a number "
            "above zero"
        )
    return dict(zip(names, numbers.tolist(), strict=True))


def _listed(rows: list[str]) -> str:
    more = len(rows) - SHOWN
    return "; ".join(rows[:SHOWN]) + (f" and {more} more" if more > 0 else "")
