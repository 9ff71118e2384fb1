"""Turns recipes, tunables and flags into ideas that can be compared with each other."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.evaluator.contract import Param
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.recipes.base import recipes
from campaigns.proposers.search.advised import told_values
from campaigns.proposers.search.idea import Idea
from campaigns.rules.verdict.buckets import Bucket
from campaigns.spaces.flags import FLAG_SETS, RISKY_FLAG_SETS, FlagSet, with_flags
from campaigns.syntax.tunables import Tunable, find_tunables, with_value

OPTION_GAIN = 1.08
FLAG_GAIN = 1.06
RISKY_FLAG_GAIN = 1.03
TUNED = {"num_warps": Category.REGISTERS, "num_stages": Category.PIPELINE}
MOST_THREADS = 1024


def recipe_ideas(situation: Situation) -> Iterator[Idea]:
    """One idea for each recipe that recognises the incumbent's source."""
    facts = read_facts(situation.evidence)
    for name, found in recipes().items():
        variants = found.variants(situation)
        if not variants:
            continue
        about = found.about
        params: dict[str, Param] = dict(variants[0].params) if len(variants) == 1 else {}
        if len(variants) > 1:
            params = {"variants": "; ".join(variant.label for variant in variants)}
        yield Idea(
            strategy=name,
            title=about.title,
            change=about.change,
            rationale=about.rationale,
            risks=about.risks,
            expected=about.expected(facts),
            params=params,
            candidates=variants,
            bucket=about.bucket,
            category=about.category,
        )


def told_ideas(situation: Situation) -> Iterator[Idea]:
    """One round for each number of the source of which experience knows a better value."""
    for tunable in find_tunables(situation.source, situation.backend):
        name = tunable.name
        for value in _told(situation, tunable):
            source = with_value(situation.source, tunable, value)
            yield Idea(
                strategy=f"tune.{name}",
                title=f"Set {name} to {value}",
                change=f"{name} becomes {value}; it is {tunable.value or 'the default'} now.",
                rationale=f"The best {name} follows from the chip, and this one was measured.",
                risks="A value may exceed a limit of the device and fail to launch.",
                expected=OPTION_GAIN,
                params={name: value},
                candidates=(Variant(f"{name} {value}", source, {name: value}),),
                bucket=Bucket.K1,
                category=TUNED.get(name, Category.LAUNCH),
            )


def _told(situation: Situation, tunable: Tunable) -> Iterator[int]:
    """The best value elsewhere, where the source has another one and may have this."""
    for value in told_values(situation, f"tune.{tunable.name}", tunable.name):
        if isinstance(value, int) and may_have(tunable, value, situation.backend):
            yield value
            return


def flag_ideas(situation: Situation) -> Iterator[Idea]:
    """One sweep of safe flags, then one round for those that relax arithmetic."""
    safe = FLAG_SETS.get(situation.backend, ())
    risky = RISKY_FLAG_SETS.get(situation.backend, ())
    for strategy, sets, gain in (
        ("flags.optimise", safe, FLAG_GAIN),
        ("flags.relaxed", risky, RISKY_FLAG_GAIN),
    ):
        variants = tuple(_flagged(situation, sets))
        if variants:
            yield _flags_idea(strategy, sets, variants, gain)


def _flagged(situation: Situation, sets: tuple[FlagSet, ...]) -> Iterator[Variant]:
    for extra in sets:
        source = with_flags(situation.source, extra)
        if source is not None:
            yield Variant(extra.label, source, {"flags": " ".join(extra.flags)})


def _flags_idea(
    strategy: str, sets: tuple[FlagSet, ...], variants: tuple[Variant, ...], gain: float
) -> Idea:
    listed = "; ".join(str(variant.params["flags"]) for variant in variants)
    return Idea(
        strategy=strategy,
        title="Try other compiler flags",
        change=f"The same source built with {listed}.",
        rationale="The compiler may schedule, unroll or vectorise the same source better when it "
        "is allowed to.",
        risks=" ".join(s.risk for s in sets if s.risk) or "None beyond a longer build.",
        expected=gain,
        params={"flags": listed},
        candidates=variants,
        bucket=Bucket.K1,
        category=Category.INSTRUCTIONS,
    )


def may_have(tunable: Tunable, value: int, backend: str) -> bool:
    """Whether this is another value than the present one, within the limits of a device."""
    return 1 <= value <= _limit(tunable, backend) and value != tunable.value


def _limit(tunable: Tunable, backend: str) -> int:
    """No more threads than a block may have, where the name or the use says it counts threads."""
    if backend not in ("cuda", "hip"):
        return 1 << 20
    if tunable.square:
        return 32
    return MOST_THREADS
