"""Heat map: which case suffers? Gain of every round on every case, the worst case first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.marks import NoChart, Point, fewer
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, cut, full

WIDTH, TOP, ROW, BELOW = 720, 50, 34, 10
LEFT, WIDEST = 132.0, 84.0
# Of a name with so many characters at the most; a narrow cell still holds "+131".
NAME = 14
MOST_COLUMNS, MOST_CASES = 12, 24
# From so much on there is a colour, about the noise floor; the strongest is never for less than:
LEAST_STEP, LEAST_MOST = 0.01, 0.3


@dataclass(frozen=True, slots=True)
class HeatGain:
    """A gain on one case as a fraction, in words with its baseline; is_shown: and clear of zero."""

    value: float
    words: str
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class HeatRound(Point):
    """One round. gains: case → its paired gain over its incumbent."""

    gains: Mapping[str, HeatGain]


@dataclass(frozen=True, slots=True)
class CaseCell:
    """One round on one case. css: its step of colour; text: the gain in percent."""

    number: int
    x: float
    css: str
    text: str
    value: str
    href: str
    title: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One case. name: in full; text: as much of it as fits."""

    name: str
    text: str
    y: float
    cells: tuple[CaseCell, ...]


@dataclass(frozen=True, slots=True)
class CaseHeat:
    """Geometry; `templates/campaigns/charts/heatmap.svg` draws it.

    worst, best: cases with their gain in the last accepted round; None where none has one.
    """

    kind: ClassVar[str] = "heatmap"
    title: ClassVar[str] = "Gain by case and round"
    template: ClassVar[str] = "campaigns/charts/heatmap.svg"
    frame: Frame
    cell_width: float
    cell_height: float
    columns: tuple[tuple[int, float, str], ...]
    rows: tuple[HeatRow, ...]
    table: TableTwin
    key: tuple[tuple[str, str], ...]
    worst: tuple[str, HeatGain] | None
    best: tuple[str, HeatGain] | None
    last: int
    cases: int
    drawn: int
    all: int

    @property
    def text_x(self) -> float:
        """The middle of a cell."""
        return self.cell_width / 2


def build(rounds: Sequence[HeatRound]) -> CaseHeat | NoChart:
    """Lay out the map."""
    known = [one for one in rounds if one.gains]
    if not known:
        sentence = "No round after the baseline has a gain that is proven on its cases yet."
        return NoChart(CaseHeat.kind, CaseHeat.title, sentence)
    drawn = fewer(known, MOST_COLUMNS)
    kept = [one for one in known if one.glyph.verdict == "accepted"]
    last = (kept or known)[-1]
    cases = [*dict.fromkeys(case for one in known for case in one.gains)]
    finals = {case: gain.value for case, gain in last.gains.items()}
    cases.sort(key=lambda case: finals.get(case, 0.0))
    shown = cases[:MOST_CASES]
    width = min(WIDEST, (WIDTH - LEFT - 4) / len(drawn))
    places = [(one, round(LEFT + width * at, 2)) for at, one in enumerate(drawn)]
    bottom = TOP + ROW * len(shown)
    steps = _steps(known)
    ends = [(case, last.gains[case]) for case in cases if case in last.gains]
    return CaseHeat(
        frame=Frame(WIDTH, bottom + BELOW, LEFT, LEFT + width * len(drawn), TOP, bottom),
        cell_width=round(width - 2, 2),
        cell_height=ROW - 2,
        columns=tuple((one.number, round(x + width / 2 - 1, 2), one.href) for one, x in places),
        rows=tuple(
            HeatRow(case, cut(case, NAME), TOP + ROW * at, _cells(case, places, steps))
            for at, case in enumerate(shown)
        ),
        table=TableTwin(
            ("Round", *(f"{case}, %" for case in cases)),
            tuple(_row(one, cases) for one in drawn),
        ),
        key=tuple(_key(steps)),
        worst=ends[0] if ends else None,
        best=ends[-1] if ends else None,
        last=last.number,
        cases=len(cases),
        drawn=len(drawn),
        all=len(known),
    )


def _steps(rounds: Sequence[HeatRound]) -> tuple[float, ...]:
    """From which change on each step of colour is: a third of the largest each, by ratio."""
    sizes = (abs(math.log(max(1 + g.value, 1e-9))) for one in rounds for g in one.gains.values())
    most = max(math.log1p(LEAST_MOST), *sizes)
    return LEAST_STEP, math.expm1(most / 3), math.expm1(2 * most / 3)


def _key(steps: Sequence[float]) -> Iterator[tuple[str, str]]:
    """Class and words of every colour, from slower to faster."""
    words = [f"{100 * step:.0f} %" for step in steps]
    yield from ((f"heat-less-{n}", f"slower by {words[n - 1]} or more") for n in (3, 2, 1))
    yield "heat-even", f"no change shown, or less than {words[0]}"
    yield from ((f"heat-more-{n}", f"faster by {words[n - 1]} or more") for n in (1, 2, 3))


def _cells(
    case: str, places: Sequence[tuple[HeatRound, float]], steps: Sequence[float]
) -> tuple[CaseCell, ...]:
    found = []
    for one, x in places:
        gain = one.gains.get(case)
        css, text, value, told = "heat-none", "–", "", "no proven time"
        if gain:
            css, text = _css(gain, steps), _percent(gain.value)
            value, told = full(gain.value), gain.words
        title = f"{case}, round {one.number}: {told}"
        found.append(CaseCell(one.number, x, css, text, value, one.href, title))
    return tuple(found)


def _css(gain: HeatGain, steps: Sequence[float]) -> str:
    """The class of its colour: heat-even, heat-less-1 to 3, heat-more-1 to 3."""
    # By ratio, so that twice as fast and half as fast are as strong.
    ratio = max(1 + gain.value, 1e-9)
    size = max(ratio, 1 / ratio) - 1
    step = sum(size >= least for least in steps) if gain.is_shown else 0
    return f"heat-{'more' if gain.value > 0 else 'less'}-{step}" if step else "heat-even"


def _percent(gain: float) -> str:
    text = f"{100 * gain:+.{0 if abs(gain) >= 0.1 else 1}f}"
    return text.replace("-", "−") if float(text) else "0"


def _row(one: HeatRound, cases: Sequence[str]) -> TableRow:
    gains = [one.gains.get(case) for case in cases]
    cells = (
        Cell("–") if gain is None else Cell(_percent(gain.value), full(100 * gain.value))
        for gain in gains
    )
    return TableRow(f"round {one.number}", one.href, tuple(cells))
