"""A comparison as Markdown for a pull request: a sentence, what is not alike, a table of cases."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.reports.comparison.sections import SideBySide, Versus
from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import digits
from knowledge.exchange.writers.markdown import joined, link, plain, table


def markdown_of(found: SideBySide, site: str) -> str:
    """The whole text. site: what its links begin with."""
    parts = [_sentence(found, one) for one in found.others]
    if found.differs:
        said = "; ".join(f"{row.name}: {' / '.join(row.values)}" for row in found.differs)
        parts.append(f"Not a comparison of like with like: {plain(said)}.")
    columns = ["Case", *(f"{plain(column.name)}, µs" for column in found.columns)]
    columns += [f"{plain(one.column.name)} over {plain(found.first.name)}" for one in found.others]
    parts.append(table(columns, _cases(found)))
    base = site.rstrip("/")
    links = [f"- {link(one.name, base + one.href)}: {plain(one.title)}" for one in found.columns]
    return joined([*parts, "\n".join(dict.fromkeys(links))])


def _sentence(found: SideBySide, one: Versus) -> str:
    gain = f"**{plain(one.gain.against(found.first.name))}**, " if one.gain else ""
    return f"{plain(one.column.name).capitalize()}: {gain}{plain(one.basis)}."


def _cases(found: SideBySide) -> Iterator[list[str]]:
    for row in found.cases:
        times = ["–" if time is None else digits(time) for time in row.times]
        yield [plain(row.name), *times, *map(_words, row.gains)]
    if any(one.gain for one in found.others):
        yield ["all cases", *("" for _ in found.columns), *(_words(v.gain) for v in found.others)]


def _words(gain: Gain | None) -> str:
    return plain(gain.brief) if gain else "–"
