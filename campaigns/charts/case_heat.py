"""Heat map: which case suffers? Gain of every round on every case, the worst case first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.marks import NoChart, Point, fewer
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, cut, full

WIDTH, TOP, ROW, BELOW = 720, 46, 30, 10
LEFT, WIDEST = 132.0, 84.0
# Of a name with so many characters at the most; a narrow cell still holds "+131".
NAME = 14
MOST_COLUMNS, MOST_CASES = 12, 24
# Up to so much slower or faster is one step of colour; the first is about the noise floor.
STEPS = (0.01, 0.1, 0.5)
KEY = (
    ("heat-less-3", "more than 50 % slower"),
    ("heat-less-2", "more than 10 %"),
    ("heat-less-1", "more than 1 %"),
    ("heat-even", "no change shown, or less than 1 %"),
    ("heat-more-1", "faster by more than 1 %"),
    ("heat-more-2", "more than 10 %"),
    ("heat-more-3", "more than 50 %"),
)


@dataclass(frozen=True, slots=True)
class HeatGain:
    """A gain on one case as a fraction, in words with its baseline; is_shown: and clear of zero."""

    value: float
    words: str
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class HeatRound(Point):
    """One round. gains: case → its gain over the baseline that the map is about."""

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
class CaseRow:
    """One case. name: in full; text: as much of it as fits."""

    name: str
    text: str
    y: float
    cells: tuple[CaseCell, ...]


@dataclass(frozen=True, slots=True)
class CaseHeat:
    """Geometry; `templates/campaigns/charts/heatmap.svg` draws it. baseline: of every gain.

    worst, best: cases with their gain in the last accepted round; None where none has one.
    """

    kind: ClassVar[str] = "heatmap"
    title: ClassVar[str] = "Gain by case and round"
    template: ClassVar[str] = "campaigns/charts/heatmap.svg"
    key: ClassVar[tuple[tuple[str, str], ...]] = KEY
    frame: Frame
    cell_width: float
    cell_height: float
    columns: tuple[tuple[int, float, str], ...]
    rows: tuple[CaseRow, ...]
    table: TableTwin
    baseline: str
    worst: tuple[str, float] | None
    best: tuple[str, float] | None
    last: int
    cases: int
    drawn: int
    all: int

    @property
    def text_x(self) -> float:
        """The middle of a cell."""
        return self.cell_width / 2


def build(rounds: Sequence[HeatRound], baseline: str) -> CaseHeat | NoChart:
    """Lay out the map. baseline: what every gain is over, in words."""
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
    ends = [(case, finals[case]) for case in cases if case in finals]
    return CaseHeat(
        frame=Frame(WIDTH, bottom + BELOW, LEFT, LEFT + width * len(drawn), TOP, bottom),
        cell_width=round(width - 2, 2),
        cell_height=ROW - 2,
        columns=tuple((one.number, round(x + width / 2 - 1, 2), one.href) for one, x in places),
        rows=tuple(
            CaseRow(case, cut(case, NAME), TOP + ROW * at, _cells(case, places))
            for at, case in enumerate(shown)
        ),
        table=TableTwin(
            ("Round", *(f"{case}, %" for case in cases)),
            tuple(_row(one, cases) for one in drawn),
        ),
        baseline=baseline,
        worst=ends[0] if ends else None,
        best=ends[-1] if ends else None,
        last=last.number,
        cases=len(cases),
        drawn=len(drawn),
        all=len(known),
    )


def _cells(case: str, places: Sequence[tuple[HeatRound, float]]) -> tuple[CaseCell, ...]:
    found = []
    for one, x in places:
        gain = one.gains.get(case)
        css, text, value, told = "heat-none", "–", "", "no proven time"
        if gain:
            css, text, value, told = _css(gain), _percent(gain.value), full(gain.value), gain.words
        title = f"{case}, round {one.number}: {told}"
        found.append(CaseCell(one.number, x, css, text, value, one.href, title))
    return tuple(found)


def _css(gain: HeatGain) -> str:
    """The class of its colour: heat-even, heat-less-1 to 3, heat-more-1 to 3."""
    # By ratio, so that twice as fast and half as fast are as strong.
    ratio = max(1 + gain.value, 1e-9)
    step = sum(max(ratio, 1 / ratio) - 1 >= least for least in STEPS) if gain.is_shown else 0
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
