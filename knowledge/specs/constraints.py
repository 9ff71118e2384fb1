"""What is odd about a value, seen beside its neighbours. Constraints warn; they never refuse.

A constraint registers itself with `@constraint(…)`. It returns what it has to say, with both
numbers and their units, or "" where it has nothing to say or cannot tell. A person who knows
better waives one constraint for one value, with a reason; the warning then stays, marked as waived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from statistics import median

from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE, SpecFacts
from knowledge.specs.hedges import hedged, hedged_number
from knowledge.specs.metrics import metric_named
from knowledge.specs.quantity import Quantity, QuantityError, canonical_unit
from knowledge.specs.spellings import names_metric, names_unit

SPARSE_LOW, SPARSE_HIGH = 1.5, 2.2  # what 2:4 sparsity makes of a dense peak
BANDWIDTH_TOLERANCE = 0.1
OUTLIER_FACTOR = 3
SAME_VALUE = 0.05  # relative difference that rounding and other clocks explain
FEWEST_SIBLINGS = 3
DOUBLE_DATA_RATE = 2  # transfers per clock
# Bits per second and pin: of what is given once per second, and of a clock with two transfers.
PER_PIN = {"memory_data_rate": 1, "memory_clock": DOUBLE_DATA_RATE}


class Severity(StrEnum):
    """How strongly a warning is meant."""

    SUGGESTION = "suggestion"
    NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class Fact:
    """One value as constraints see it.

    `shown` is value and unit as written ("4.8 TB/s"), `source` the title and address of its source
    as one text, `quote` the cited lines where they are known, `context` what stands above them and
    gives them their meaning, `about` the platform that their document speaks of, "" where it does
    not say.
    """

    platform: str
    metric: str
    shown: str
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    evidence: str = EvidenceClass.DOCUMENTED
    source: str = ""
    quote: str = ""
    context: str = ""
    about: str = ""

    @classmethod
    def of(cls, platform: str, facts: SpecFacts, quote: str = "") -> Fact:
        """The facts of one document line."""
        source = f"{facts.source} <{facts.source_url}>" if facts.source_url else facts.source
        own = (facts.metric, facts.shown, facts.qualifiers, facts.evidence)
        return cls(platform, *own, source=source, quote=quote)

    @property
    def quantity(self) -> Quantity | None:
        """The value in the metric's canonical unit; None for names, gaps and wrong dimensions."""
        metric = metric_named(self.metric)
        if not metric.numeric or self.shown in (UNKNOWN_VALUE, ABSENT_VALUE):
            return None
        try:
            found = Quantity.parse(self.shown).canonical()
        except QuantityError:
            return None
        return found if found.unit == metric.unit else None

    def asks(self, *left_out: str) -> tuple[tuple[str, str], ...]:
        """The qualifiers, in order, some left out."""
        return tuple(sorted((k, v) for k, v in self.qualifiers.items() if k not in left_out))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What stands beside a value: the other values of its platform, none of them itself, and
    those of the same metric of the other platforms of its architecture.
    """

    platform: Sequence[Fact] = ()
    siblings: Sequence[Fact] = ()


@dataclass(frozen=True, slots=True)
class ConstraintWarning:
    """What one constraint says of one value. `waived` is the reason of an exception, else ""."""

    constraint: str
    message: str
    severity: Severity
    waived: str = ""


Rule = Callable[[Fact, Neighbours], str]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint: its id, its title, what it checks and what to do when it warns."""

    id: str
    title: str
    checks: str
    remedy: str
    severity: Severity
    rule: Rule


CONSTRAINTS: dict[str, Constraint] = {}


def constraint(
    id: str, title: str, *, checks: str, remedy: str, severity: Severity = Severity.NORMAL
) -> Callable[[Rule], Rule]:
    """Register a rule; two of one id are a mistake of the programmer."""

    def register(rule: Rule) -> Rule:
        if id in CONSTRAINTS:
            raise ValueError(f"constraint '{id}' is registered twice")
        CONSTRAINTS[id] = Constraint(id, title, checks, remedy, severity, rule)
        return rule

    return register


def check_constraints(
    fact: Fact, known: Neighbours, waived: Mapping[str, str] | None = None
) -> list[ConstraintWarning]:
    """All warnings about a value, in the order of registration; `waived` is id → reason.

    A metric that nobody registered is a MetricError; nothing else is refused here.
    """
    reasons = waived or {}
    found = ((each, each.rule(fact, known)) for each in CONSTRAINTS.values())
    return [
        ConstraintWarning(each.id, message, each.severity, reasons.get(each.id, ""))
        for each, message in found
        if message
    ]


def _like(quantity: Quantity, fact: Fact) -> str:
    """A quantity in the unit in which a fact is written, with five digits."""
    shown = quantity.to(Quantity.parse(fact.shown).unit)
    return f"{shown.value:.5g} {shown.unit}"


@constraint(
    "unit-dimension",
    "Unit does not fit the metric",
    checks="the unit converts to the one in which the metric is kept",
    remedy="check that metric and unit are those in the source",
)
def unit_dimension(fact: Fact, known: Neighbours) -> str:
    metric = metric_named(fact.metric)
    if not metric.numeric or fact.shown in (UNKNOWN_VALUE, ABSENT_VALUE):
        return ""
    try:
        found = canonical_unit(Quantity.parse(fact.shown).unit)
    except QuantityError as error:
        return f"'{fact.shown}' cannot be read as {metric.unit}: {error}"
    if found == metric.unit:
        return ""
    return f"{fact.shown} converts to {found}, and {metric.name} is kept in {metric.unit}"


@constraint(
    "range",
    "Outside the plausible range",
    checks="the value lies between the bounds of its metric",
    remedy="check for a wrong prefix, or a figure for one part or for a whole system",
)
def plausible_range(fact: Fact, known: Neighbours) -> str:
    metric, quantity = metric_named(fact.metric), fact.quantity
    if quantity is None or metric.low is None or metric.high is None:
        return ""
    if metric.plausible(quantity.value):
        return ""
    low, high = (_like(Quantity(bound, metric.unit), fact) for bound in (metric.low, metric.high))
    return f"{fact.shown} is outside of what is plausible for {metric.name}: {low} to {high}"


@constraint(
    "sparse-ratio",
    "Sparse and dense peaks do not fit",
    checks=f"a 2:4 sparse peak is {SPARSE_LOW} to {SPARSE_HIGH} times the dense one of its dtype",
    remedy="check in which of the two columns of the source the number is",
)
def sparse_ratio(fact: Fact, known: Neighbours) -> str:
    mine = _sparsity(fact)
    if mine is None:
        return ""
    name, sparse = mine
    said = []
    for other in known.platform:
        same = other.asks("sparsity") == fact.asks("sparsity")
        over, under = (fact, other) if sparse else (other, fact)
        more, less = over.quantity, under.quantity
        if not same or _sparsity(other) != (name, not sparse) or more is None or less is None:
            continue
        if more.value <= 0 or less.value <= 0:
            continue
        ratio = more.value / less.value
        if SPARSE_LOW <= ratio <= SPARSE_HIGH:
            return ""
        said.append(f"{over.shown} sparse is {ratio:.3g} times {under.shown} dense")
    usual = f"; {SPARSE_LOW} to {SPARSE_HIGH} times is usual"
    return said[0] + usual if said else ""


def _sparsity(fact: Fact) -> tuple[str, bool] | None:
    """The metric without its sparsity, and whether it is sparse; None where neither is said."""
    for ending, sparse in (("_dense", False), ("_sparse", True)):
        if fact.metric.endswith(ending):
            return fact.metric.removesuffix(ending), sparse
    if "sparsity" in fact.qualifiers:
        return fact.metric, fact.qualifiers["sparsity"] != "dense"
    return None


@constraint(
    "bandwidth-from-clock",
    "Bandwidth does not follow from the interface",
    checks="memory bandwidth is bus width times data rate (or twice the memory clock) within 10 %",
    remedy="check that all of them are for this product, not for another one with the same die",
)
def bandwidth_from_clock(fact: Fact, known: Neighbours) -> str:
    if fact.metric not in ("memory_bandwidth", "memory_bus_width", *PER_PIN):
        return ""
    # What was measured stays out: it lies below what the interface could do.
    by_metric: dict[str, list[tuple[Fact, float]]] = defaultdict(list)
    for each in (fact, *known.platform):
        quantity = each.quantity
        if quantity is not None and quantity.value > 0 and each.evidence != EvidenceClass.MEASURED:
            by_metric[each.metric].append((each, quantity.value))
    paces = by_metric["memory_data_rate"] or by_metric["memory_clock"]
    said = []
    for trio in product(by_metric["memory_bandwidth"], by_metric["memory_bus_width"], paces):
        if not any(each is fact for each, _ in trio):
            continue
        (bandwidth, stated), (width, bits), (pace, per_pin) = trio
        per_second = bits * per_pin * PER_PIN[pace.metric] / 8
        if abs(per_second - stated) <= BANDWIDTH_TOLERANCE * stated:
            return ""
        computed = _like(Quantity(per_second, "B/s"), bandwidth)
        said.append(
            f"{width.shown} at {pace.shown} ({pace.metric}) make {computed}, "
            f"and memory_bandwidth is {bandwidth.shown}"
        )
    return said[0] if said else ""


@constraint(
    "sibling-outlier",
    "Far from the other parts of the architecture",
    checks=f"the value is within a factor of {OUTLIER_FACTOR} of the median of its siblings",
    remedy="check for a wrong prefix or product; if the part really is cut down that far, say so",
    severity=Severity.SUGGESTION,
)
def sibling_outlier(fact: Fact, known: Neighbours) -> str:
    quantity = fact.quantity
    by_platform: dict[str, list[float]] = defaultdict(list)
    for other in known.siblings:
        theirs = other.quantity
        same = (other.metric, other.asks()) == (fact.metric, fact.asks())
        if same and other.platform != fact.platform and theirs is not None and theirs.value > 0:
            by_platform[other.platform].append(theirs.value)
    if quantity is None or quantity.value <= 0 or len(by_platform) < FEWEST_SIBLINGS:
        return ""
    middle = median(median(values) for values in by_platform.values())
    factor = quantity.value / middle
    if 1 / OUTLIER_FACTOR <= factor <= OUTLIER_FACTOR:
        return ""
    usual = _like(Quantity(middle, quantity.unit), fact)
    return f"{fact.shown} is {factor:.3g} times {usual}, the median of {len(by_platform)} siblings"


@constraint(
    "duplicate",
    "Already known",
    checks="no other value answers the same question with the same value from the same source",
    remedy="keep one of them, or cite another source",
    severity=Severity.SUGGESTION,
)
def duplicate(fact: Fact, known: Neighbours) -> str:
    for other in known.platform:
        same = (other.metric, other.asks(), other.source) == (fact.metric, fact.asks(), fact.source)
        if same and (other.quantity or other.shown) == (fact.quantity or fact.shown):
            return f"{fact.shown} from {fact.source} is already stored, as {other.shown}"
    return ""


@constraint(
    "contradiction",
    "Contradicts an approved value",
    checks=f"approved values of the same question differ by at most {SAME_VALUE:.0%}",
    remedy="check that both are for this product; then retire the wrong one or rank one preferred",
)
def contradiction(fact: Fact, known: Neighbours) -> str:
    if fact.evidence == EvidenceClass.MEASURED:
        return ""  # sessions differ, and the newest counts
    for other in known.platform:
        same = (other.metric, other.asks()) == (fact.metric, fact.asks())
        if not same or other.evidence == EvidenceClass.MEASURED:
            continue
        mine, theirs = fact.quantity, other.quantity
        if mine and theirs and abs(mine.value - theirs.value) > SAME_VALUE * abs(theirs.value):
            return f"{fact.shown} here, but {other.shown} is approved, from {other.source}"
    return ""


@constraint(
    "hedged",
    "Hedged",
    checks="neither the value nor the cited text says about, ~, likely and the like of the number",
    remedy="cite a source that states the number, or store UNKNOWN and how to obtain it",
)
def hedged_value(fact: Fact, known: Neighbours) -> str:
    own = hedged(fact.shown)
    if own:
        return f"the value '{fact.shown}' says '{own}'"
    quoted = hedged_number(fact.quote, fact.shown)
    return f"the cited text says '{quoted}' of {fact.shown}" if quoted else ""


@constraint(
    "other-product",
    "Document about another product",
    checks="the cited document speaks of the product that the value is one of",
    remedy="cite a document about this product, or say why the line holds for both",
)
def other_product(fact: Fact, known: Neighbours) -> str:
    if fact.about in ("", fact.platform):
        return ""
    return f"the cited document speaks of {fact.about}, and the value is one of {fact.platform}"


@constraint(
    "bare-number",
    "Number without its unit or metric",
    checks="the cited lines, or what stands above them, name the unit or the metric",
    remedy="cite the lines with the unit too, such as the head of the table",
)
def bare_number(fact: Fact, known: Neighbours) -> str:
    metric, quantity = metric_named(fact.metric), fact.quantity
    if quantity is None or not fact.quote:
        return ""
    text = f"{fact.context}\n{fact.quote}"
    if names_unit(text, quantity.unit) or names_metric(text, metric):
        return ""
    number = fact.shown.partition(" ")[0]
    return f"the cited text holds {number} and says neither a unit of it nor {metric.name}"
