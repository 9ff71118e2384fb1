"""A measurement as a wiki document: one citable line per ceiling, then everything it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from campaigns.evaluator.ceilings.choice import BUSY_LIMIT, COLD_CACHES, WARM_PARTS
from campaigns.evaluator.ceilings.result import Result, Sample

DIGITS = 4
SAMPLE_HEAD = ("metric", "dtype", "method", "threads", "array MiB", "best", "median", "rates")
PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))
SUFFIX = {"B/s": "B/s", "op/s": "FLOPS"}
# The spellings that a bandwidth has; petabytes per second are not one of them.
LARGEST_PREFIX = {"B/s": 1e12, "op/s": 1e15}

METHOD = """\
Every value is the best rate that was seen, because a ceiling says what the device can do. Bytes
convention: copy_bandwidth counts the bytes read plus the bytes written, read_bandwidth the bytes
read, write_bandwidth the bytes written. A multiply-add counts as two operations, a product of n × n
matrices as 2 n³.

A bandwidth without qualifiers is the best over cold arrays; the copy is the one that targets use.
cache=cold: all arrays together are at least {cold} times the last-level cache. cache=warm: they
fill at most 1/{warm} of it, so an inner cache may hold them too. Between the two, and where the
size of the cache is not known, a line has no cache qualifier. array_bytes is the size of one array;
a copy has two. On a GPU every call of the sweep is a kernel of its own, and small arrays pay for
starting it; the warm rate is that of a kernel that passes over its array many times.

On a GPU a matrix product has two values, because a card near its power limit lowers its clock after
some tens of milliseconds. load=burst: each repeat is as long as a burst of the judge, and follows a
pause. load=sustained: the repeats follow each other after more than a second of the same work.
Targets and floors use the burst, since the judge times bursts and no honest kernel may beat a
floor. Clocks, power and what held the clock down stand beside each.

Each ceiling was measured alone; nothing else was started on the device by us. host_busy_share is
what other processes, and other machines on the same hardware, took of the CPU time meanwhile; above
{busy:.0%} a note says so.
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
        *_spec_lines(result),
        "",
        "## Method",
        "",
        METHOD.format(cold=COLD_CACHES, warm=WARM_PARTS, busy=BUSY_LIMIT),
        *[line for note in result.notes for line in (f"Note: {note}.", "")],
        "## Environment",
        "",
        *_rows(("what", "value"), {**result.versions, **result.clocks}.items()),
        "",
        "## Samples",
        "",
        "All rates in the order in which they were taken, in units of 1e9 per second.",
        "",
        *_rows(SAMPLE_HEAD, map(_sample_row, result.samples)),
    ]
    return "\n".join(lines) + "\n"


def _spec_lines(result: Result) -> Iterator[str]:
    """Citable lines, with how and when in their notes."""
    how = ["evidence=measured", "kind=measured", "rank=preferred"]
    how.append(f"source=measured on host {result.host} on {result.measured_at[:10]}")
    for ceiling in result.ceilings:
        qualifiers = [f"{key}={value}" for key, value in ceiling.qualifiers.items()]
        fact = f"- {ceiling.metric}: {shown(ceiling.rate, ceiling.unit)}"
        note = f"note={ceiling.basis}, median {shown(ceiling.median_rate, ceiling.unit)}"
        yield " | ".join([fact, *qualifiers, *how, note])
    if result.busy_share is not None:
        note = "CPU time of the usable CPUs that others took while the ceilings were measured"
        fact = f"- host_busy_share: {result.busy_share:.3f} ratio"
        yield " | ".join([fact, *how, f"note={note}"])


def shown(rate: float, unit: str) -> str:
    """A rate for people, four digits: "46.71 GB/s", "128.1 GFLOPS"."""
    known = (one for one in PREFIXES if one[0] <= min(LARGEST_PREFIX[unit], rate))
    scale, prefix = next(known, PREFIXES[-1])
    places = max(0, DIGITS - len(str(int(rate / scale))))
    number = f"{rate / scale:.{places}f}"
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {prefix}{SUFFIX[unit]}"


def _sample_row(sample: Sample) -> tuple[str, ...]:
    return (
        sample.metric,
        sample.dtype or "–",
        sample.method,
        str(sample.threads or "–"),
        f"{sample.array_bytes / 2**20:g}" if sample.array_bytes else "–",
        f"{sample.best / 1e9:.2f}",
        f"{sample.median / 1e9:.2f}",
        " ".join(f"{rate / 1e9:.2f}" for rate in sample.rates),
    )


def _rows(head: Iterable[str], rows: Iterable[Iterable[str]] | Mapping[str, str]) -> list[str]:
    cells = [tuple(head)]
    cells += [tuple(cell.replace("|", "/") for cell in row) for row in rows]
    rule = "|".join("---" for _ in cells[0])
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{rule}|", *lines[1:]]
