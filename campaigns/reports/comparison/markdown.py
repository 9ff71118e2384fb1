"""A comparison as Markdown for a pull request: a sentence, what is not alike, a table of cases."""

from __future__ import annotations

from campaigns.reports.comparison.sections import Column, SideBySide, Versus
from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import digits
from knowledge.exchange.writers.markdown import joined, link, plain, table


def markdown_of(found: SideBySide, site: str) -> str:
    """The whole text. site: what its links begin with."""
    parts = [_sentence(found, one) for one in found.others]
    if found.differs:
        said = "; ".join(f"{row.name}: {' / '.join(row.values)}" for row in found.differs)
        parts.append(f"Not a comparison of like with like: {plain(said)}.")
    parts += [_cases(found.first, one) for one in found.others]
    base = site.rstrip("/")
    links = [f"- {link(one.name, base + one.href)}: {plain(one.title)}" for one in found.columns]
    return joined([*parts, "\n".join(dict.fromkeys(links))])


def _sentence(found: SideBySide, one: Versus) -> str:
    gain = f"**{plain(one.gain.against(found.first.name))}**, " if one.gain else ""
    return f"{plain(one.column.name).capitalize()}: {gain}{plain(one.basis)}."


def _cases(first: Column, one: Versus) -> str:
    columns = ["Case", f"{plain(first.name)}, µs", f"{plain(one.column.name)}, µs", "gain"]
    rows = [
        [plain(row.name), _time(row.first_us), _time(row.time_us), _words(row.gain)]
        for row in one.cases
    ]
    return table(columns, [*rows, ["all cases", "", "", _words(one.gain)]] if one.gain else rows)


def _time(time_us: float | None) -> str:
    return "–" if time_us is None else digits(time_us)


def _words(gain: Gain | None) -> str:
    return plain(gain.brief) if gain else "–"
