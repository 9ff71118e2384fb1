"""What a person or an agent hands in: a hypothesis first, then the source that tests it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from django.utils.text import slugify

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.programs import TUNING, is_tuning
from campaigns.proposers.base import Hypothesis, MetricDirection
from campaigns.proposers.evidence import cites_profile, is_counter
from campaigns.rules.search_log import SearchLogRefused, SearchStep, read_search_log
from campaigns.rules.verdict.buckets import Bucket

# Field → the most characters of it.
LONGEST = {"title": 200, "strategy": 120, "change": 2000, "rationale": 4000, "risks": 2000}
LONGEST |= {"metric": 80}
NEEDED = ("title", "change", "rationale", "metric", "direction", "amount", "evidence", "source")
NO_TEXTS = ("amount", "evidence", "searched")
LARGEST_SOURCE = 256 * 1024
LARGEST_AMOUNT = 10.0
MOST_FLAGS = 20
# What only the work within a kernel is: a cache of the wrapper needs times that are measured.
BUCKETS = tuple(bucket for bucket in Bucket if bucket.is_kernel)


class SubmissionRefused(ValueError):
    """Something that cannot be handed in: `field`, and in `message` what is accepted.

    field: of `HandedIn`, or "campaign" where the campaign does not take it. round: the number of
    the round that had the same; None where there is none. all: every (field, message) that is known
    to be wrong, this one first.
    """

    def __init__(
        self,
        field: str,
        message: str,
        round: int | None = None,
        also: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.round = round
        self.all = ((field, message), *also)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What was typed or sent. Every field has a default, so that a missing one can be named.

    source: the text of the candidate. file_name: what it was read from; "" where it was typed.
    metric, direction, amount: what should move, "down" or "up", and by which share ("8%" or 0.08).
    evidence: names of the facts about the incumbent that the hypothesis rests on: cases and, where
    it was profiled, at least one finding or metric. strategy:
    a name of the catalogue; "" names it after the title. flags: for the compiler, with spaces
    between; None: those of the incumbent. searched: what `campaigns.rules.search_log` reads.
    """

    source: str = ""
    title: str = ""
    change: str = ""
    rationale: str = ""
    metric: str = ""
    direction: str = ""
    amount: str | float = ""
    evidence: tuple[str, ...] = ()
    strategy: str = ""
    risks: str = ""
    bucket: str = Bucket.K1
    flags: str | None = None
    file_name: str = ""
    searched: tuple[object, ...] = ()

    @property
    def text(self) -> str:
        """The source with the line ends of a file: a browser sends its own."""
        plain = self.source.replace("\r\n", "\n")
        return plain if plain.endswith("\n") else f"{plain}\n"


def read_hypothesis(handed: HandedIn, facts: Mapping[str, str]) -> Hypothesis:
    """The hypothesis that was handed in, with all of its fields (R27, R33).

    facts: name → what was measured of the incumbent, in words. Raises SubmissionRefused for the
    first field that is missing or wrong.
    """
    _require_whole(handed, facts)
    for name, most in LONGEST.items():
        said = getattr(handed, name)
        if len(said) > most or "\0" in said:
            raise SubmissionRefused(name, f"{len(said)} characters; accepted: text, at most {most}")
    amount = _amount(handed)
    _require_evidence(handed.evidence, facts)
    for name, accepted in (("direction", tuple(MetricDirection)), ("bucket", BUCKETS)):
        said = getattr(handed, name)
        if said not in accepted:
            raise SubmissionRefused(name, f"{said!r:.40}; accepted: {', '.join(accepted)}")
    # A name of its own for an idea that is not in the catalogue, so that no two are mixed up.
    own_name = f"own.{slugify(handed.title, allow_unicode=True)[:100]}"
    return Hypothesis(
        strategy=handed.strategy.strip() or own_name,
        title=handed.title.strip(),
        change=handed.change.strip(),
        rationale=handed.rationale.strip(),
        evidence=tuple(facts[case] for case in dict.fromkeys(handed.evidence)),
        expected_metric=handed.metric.strip(),
        expected_direction=MetricDirection(handed.direction),
        expected_amount=amount,
        risks=handed.risks.strip(),
        params={},
        bucket=Bucket(handed.bucket),
        cites=tuple(filter(cites_profile, dict.fromkeys(handed.evidence))),
        searched=_searched(handed.searched),
    )


def _searched(said: Iterable[object]) -> tuple[SearchStep, ...]:
    try:
        return read_search_log(said)
    except SearchLogRefused as error:
        raise SubmissionRefused("searched", str(error)) from None


def _require_evidence(named: Iterable[str], facts: Mapping[str, str]) -> None:
    """What is named is known, and of a profile at least one (R27, law 4)."""
    for name in named:
        if name not in facts:
            raise SubmissionRefused("evidence", f"{name!r:.100}; accepted: {_listed(facts)}")
    counted = [name for name in facts if cites_profile(name)]
    if counted and not any(map(cites_profile, named)):
        words = "the incumbent was profiled, so name a finding or a counter of it"
        raise SubmissionRefused("evidence", f"{words}; accepted: {_listed(counted)}")


def _listed(names: Iterable[str]) -> str:
    """What may be named; of many counters how one is."""
    told = [name for name in names if not is_counter(name)]
    counters = [name for name in names if is_counter(name)]
    more = [f"{counters[0]} and {len(counters) - 1} other counters"] if counters else []
    return ", ".join((*told, *more))


def _require_whole(handed: HandedIn, facts: Mapping[str, str]) -> None:
    """Every field that is needed is there, and is text where it has to be."""
    _require_texts(handed)
    needed = {
        "evidence": f"is needed; accepted: one or more of {_listed(facts)}",
        "direction": f"is needed; accepted: {', '.join(MetricDirection)}",
        "source": "is needed, as text",
    }
    missing = []
    for name in NEEDED:
        said = getattr(handed, name)
        if not (said.strip() if isinstance(said, str) else said):
            missing.append(
                (name, needed.get(name, "is needed; a hypothesis comes before its code"))
            )
    if missing:
        raise SubmissionRefused(*missing[0], also=missing[1:])


def _require_texts(handed: HandedIn) -> None:
    for name, said in asdict(handed).items():
        may_differ = name in NO_TEXTS or (name == "flags" and said is None)
        if not may_differ and not isinstance(said, str):
            raise SubmissionRefused(name, f"{said!r:.40}; accepted: text")


def read_flags(handed: HandedIn, incumbent: Source) -> tuple[str, ...]:
    """The compiler flags. Raises SubmissionRefused."""
    if handed.flags is None:
        return incumbent.flags
    flags = tuple(handed.flags.split())
    if flags and incumbent.name.endswith(".py"):
        raise SubmissionRefused("flags", f"{flags[0]!r:.40}; accepted for this backend: none")
    for flag in flags:
        if not is_tuning(flag) or len(flags) > MOST_FLAGS:
            raise SubmissionRefused(
                "flags", f"{flag!r:.40}; accepted: at most {MOST_FLAGS} of {TUNING}"
            )
    return flags


def check_source(handed: HandedIn, name: str) -> None:
    """Refuse what is no source for a file of this name. Raises SubmissionRefused."""
    _require_texts(handed)
    if not handed.source.strip():
        raise SubmissionRefused("source", "is needed, as text")
    size = len(handed.text.encode())
    if size > LARGEST_SOURCE or "\0" in handed.source:
        raise SubmissionRefused(
            "source", f"{size:,} bytes; accepted: text of at most {LARGEST_SOURCE:,} bytes"
        )
    ending = f".{name.rpartition('.')[2]}"
    if handed.file_name and not handed.file_name.endswith(ending):
        raise SubmissionRefused(
            "source",
            f"the file {handed.file_name!r:.100}; accepted here: one that ends in {ending}",
        )


def squeezed(text: str) -> str:
    """A text without the blanks that make no difference: two that are equal are one idea."""
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _amount(handed: HandedIn) -> float:
    said = str(handed.amount).strip()
    try:
        share = float(said.removesuffix("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        share = math.nan
    plain = isinstance(handed.amount, str) and not said.endswith("%") and share > 1
    most = 1.0 if handed.direction == MetricDirection.DOWN else LARGEST_AMOUNT
    if plain or not 0 < share <= most:
        raise SubmissionRefused(
            "amount",
            f"{said!r:.40}; accepted: a share such as 8% or 0.08, more than 0 and at most "
            f"{most:.0%}",
        )
    return share
