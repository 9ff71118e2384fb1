"""A measurement as a wiki document: one citable line per ceiling, then everything it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from campaigns.evaluator.ceilings.result import Ceiling, Result, Sample

DIGITS = 4
PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))
SUFFIX = {"B/s": "B/s", "op/s": "FLOPS"}
# The spellings that a bandwidth has; petabytes per second are not one of them.
LARGEST_PREFIX = {"B/s": 1e12, "op/s": 1e15}

METHOD = """\
Every value is the best rate that was seen, because a ceiling says what the device can do. Copies
count bytes read plus bytes written, over arrays too large for the caches. A multiply-add counts as
two operations. Each ceiling was measured alone; nothing else was started on the device by us.
"""


def to_markdown(result: Result, platform: str) -> str:
    """The document. `platform` is the body of its Platform section ("- platform: h200-sxm")."""
    lines = [
        f"# Measured on this host: {result.name}",
        "",
        f"Measured {result.measured_at} on host {result.host} by `{result.command}`.",
        "",
        "## Platform",
        "",
        platform,
        "",
        "## Specs",
        "",
        *[spec_line(ceiling, result) for ceiling in result.ceilings],
        "",
        "## Method",
        "",
        METHOD,
        *[f"Note: {note}." for note in result.notes],
        *(
            [
                "",
            ]
            if result.notes
            else []
        ),
        "## Environment",
        "",
        *_rows(("what", "value"), {**result.versions, **result.clocks}.items()),
        "",
        "## Samples",
        "",
        "All rates in the order in which they were taken, in units of 1e9 per second.",
        "",
        *_samples(result.samples),
    ]
    return "\n".join(lines) + "\n"


def spec_line(ceiling: Ceiling, result: Result) -> str:
    """One citable line, with how and when in its note."""
    parts = [f"- {ceiling.metric}: {shown(ceiling.rate, ceiling.unit)}"]
    if ceiling.dtype:
        parts.append(f"dtype={ceiling.dtype}")
    typical = shown(ceiling.median_rate, ceiling.unit)
    parts += [
        "evidence=measured",
        "kind=measured",
        "rank=preferred",
        f"source=measured on host {result.host} on {result.measured_at[:10]}",
        f"note={ceiling.basis}, median {typical}",
    ]
    return " | ".join(parts)


def shown(rate: float, unit: str) -> str:
    """A rate for people, four digits: "46.71 GB/s", "128.1 GFLOPS"."""
    scale, prefix = next(
        (
            (scale, prefix)
            for scale, prefix in PREFIXES
            if scale <= LARGEST_PREFIX[unit] and rate >= scale
        ),
        PREFIXES[-1],
    )
    places = max(0, DIGITS - len(str(int(rate / scale))))
    number = f"{rate / scale:.{places}f}"
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {prefix}{SUFFIX[unit]}"


def _samples(samples: Iterable[Sample]) -> list[str]:
    head = ("metric", "dtype", "method", "threads", "array MiB", "best", "median", "rates")
    rows = [
        (
            sample.metric,
            sample.dtype or "–",
            sample.method,
            str(sample.threads or "–"),
            f"{sample.array_bytes / 2**20:g}" if sample.array_bytes else "–",
            _billions(sample.best),
            _billions(sample.median),
            " ".join(map(_billions, sample.rates)),
        )
        for sample in samples
    ]
    return _rows(head, rows)


def _billions(rate: float) -> str:
    return f"{rate / 1e9:.2f}"


def _rows(head: Iterable[str], rows: Iterable[Iterable[str]] | Mapping[str, str]) -> list[str]:
    cells = [tuple(head)]
    cells += [tuple(cell.replace("|", "/") for cell in row) for row in rows]
    rule = "|".join("---" for _ in cells[0])
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{rule}|", *lines[1:]]
