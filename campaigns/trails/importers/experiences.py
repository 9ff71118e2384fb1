"""experiences.json of kernel-opt-skill: attempts of all its runs, with the gains that it claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from campaigns.trails.importers.claims import Claim, ClaimedRound, lacking
from campaigns.trails.importers.documents import LinedDocument, read_json_records

NAME = "experiences.json"
OUTCOMES = ("success", "failure", "neutral")
UNIT = "ms"
METRIC = "execution time after the change, each of a kernel of its own"
CONVENTION = (
    "latency in ms as its author entered it; lower is better. The speedup is the latency before "
    "over the one after, with two decimals"
)


def experiences_in(files: Mapping[str, str]) -> tuple[ClaimedRound, ...]:
    """Every entry of the file as an attempt; none without the file. Raises TrailRefused."""
    path = next((path for path in sorted(files) if path.rpartition("/")[2] == NAME), "")
    if not path:
        return ()
    return tuple(_attempt(n, one) for n, one in enumerate(read_json_records(path, files[path]), 1))


def _attempt(place: int, one: LinedDocument) -> ClaimedRound:
    number = one.number("id")
    outcome = one.word("outcome", OUTCOMES)
    time = one.number("metrics_after.latency_ms")
    optimization, hypothesis = one.text("optimization"), one.text("hypothesis")
    kernel = f"{one.text('kernel')} [{one.text('backend')}]" if one.text("kernel") else ""
    known = {
        "kernel": kernel,
        "outcome": outcome,
        "optimization": optimization,
        "latency after": time,
        "speedup": one.number("speedup"),
    }
    return ClaimedRound(
        name=f"experience {number if number is not None else place}",
        path=one.path,
        line=one.line("outcome"),
        number=number if isinstance(number, int) else None,
        title=": ".join(filter(None, (kernel, optimization))),
        hypothesis=hypothesis,
        status=outcome,
        figure=time,
        unit=UNIT,
        metric=METRIC,
        convention=CONVENTION,
        at=one.text("date"),
        claims=one.claims,
        missing=(*lacking(known.items()), "source", "kept", "masked"),
    )


def figures_of(attempts: Sequence[ClaimedRound]) -> tuple[Claim, ...]:
    """How many there are by outcome, and the largest gain that one of them claims."""
    if not attempts:
        return ()
    path = attempts[0].path
    counts = Counter(one.status or "without an outcome" for one in attempts)
    words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    found = [Claim("experiences", f"{len(attempts)} ({words})", path, 1)]
    gains = [one.gain for one in attempts if one.gain is not None]
    if gains:
        largest = max(gains, key=lambda claim: float(claim.value))
        found.append(Claim("largest claimed gain", largest.value, path, largest.line, "×"))
    return tuple(found)
