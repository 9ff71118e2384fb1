"""PURE: where does what we try work? Share of attempts that worked, by platform and operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.charts.frame import Frame, TableRow, TableTwin, cut, number

COLUMNS = ("Platform and operation", "Worked, %", "Worked", "Tried")
WIDTH, LEFT, TOP, HEIGHT, BELOW = 720, 156, 74, 34, 8
WIDEST = 96
MOST_ROWS, MOST_COLUMNS = 12, 8
WIDE, NARROW = 22, 13  # characters of a label, on a screen and on a phone
STEPS = 5
FEW = 5  # attempts; a share of fewer says little


@dataclass(frozen=True, slots=True)
class HeatPoint:
    """The attempts of one operation on one platform."""

    platform: str
    op: str
    tried: int
    worked: int
    href: str

    @property
    def share(self) -> float:
        return self.worked / self.tried


def build(points: Sequence[HeatPoint]) -> dict[str, Any] | None:
    """The geometry of the platforms and operations with the most attempts; None without any.

    `templates/knowledge/charts/heatmap.svg` draws it. Lengths are in SVG units; step: 0 to 4, how
    strong the colour of a cell is; short: a label where letters are large.
    """
    if not points:
        return None
    rows = _most([(p.platform, p.tried) for p in points], MOST_ROWS)
    columns = _most([(p.op, p.tried) for p in points], MOST_COLUMNS)
    width = min(WIDEST, (WIDTH - LEFT) / len(columns))
    bottom = TOP + HEIGHT * len(rows)
    cells = [
        {
            "point": point,
            "x": round(LEFT + width * columns.index(point.op), 2),
            "y": TOP + HEIGHT * rows.index(point.platform),
            "step": min(STEPS - 1, int(point.share * STEPS)),
        }
        for point in points
        if point.platform in rows and point.op in columns
    ]
    table = []
    for p in sorted(points, key=lambda point: (point.platform, point.op)):
        shares = (number(p.share * 100), number(p.worked, 0), number(p.tried, 0))
        table.append(TableRow(f"{p.platform} {p.op}", p.href, shares))
    counted = [point for point in points if point.tried >= FEW]
    tried, worked = sum(p.tried for p in points), sum(p.worked for p in points)
    return {
        "kind": "heatmap",
        "frame": Frame(WIDTH, bottom + BELOW, LEFT, LEFT + width * len(columns), TOP, bottom),
        "cell_width": width - 2,
        "cell_height": HEIGHT - 2,
        "text_x": round(width / 2 - 1, 2),
        "text_y": round(HEIGHT / 2 + 4, 2),
        "rows": [_label(name, TOP + HEIGHT * (i + 0.5)) for i, name in enumerate(rows)],
        "columns": [_label(name, LEFT + width * (i + 0.5)) for i, name in enumerate(columns)],
        "cells": cells,
        "tried": tried,
        "worked": worked,
        "share": worked / tried,
        "few": FEW,
        "best": max(counted, key=lambda p: p.share) if len(counted) > 1 else None,
        "worst": min(counted, key=lambda p: p.share) if len(counted) > 1 else None,
        "left_out": len(points) - len(cells),
        "table": TableTwin(COLUMNS, tuple(table)),
    }


def _most(counts: Sequence[tuple[str, int]], most: int) -> list[str]:
    """The names with the most attempts, then in alphabetical order."""
    total: Counter[str] = Counter()
    for name, tried in counts:
        total[name] += tried
    return sorted(name for name, _ in total.most_common(most))


def _label(name: str, at: float) -> dict[str, Any]:
    return {"at": round(at, 2), "text": cut(name, WIDE), "short": cut(name, NARROW)}
