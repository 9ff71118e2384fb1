"""Turns recipes, tunables, flags and the space of all knobs into ideas that can be compared.

Experience decides which idea comes first, and never whether one exists: an idea that it does not
know keeps the place that its own estimate gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from campaigns.evaluator.contract import Param
from campaigns.proposers.base import (
    Advice,
    Category,
    Draft,
    Hypothesis,
    MetricDirection,
    Situation,
    SweepPlan,
    Values,
    Variant,
)
from campaigns.proposers.evidence import LIMIT, Facts, cites_profile, read_facts
from campaigns.proposers.recipes.base import recipes
from campaigns.rules.verdict.buckets import Bucket
from campaigns.spaces.find import space_of
from campaigns.spaces.matmul_model import fastest_modelled
from campaigns.spaces.render import FLAG_SETS, FLAGS, RISKY_FLAG_SETS, render, with_flags
from campaigns.spaces.space import Point, Space
from campaigns.strategies.registry import DEFAULT
from campaigns.syntax.tunables import Tunable, find_tunables, with_value

OPTION_GAIN = 1.08
FLAG_GAIN = 1.06
RISKY_FLAG_GAIN = 1.03
TUNED = {"num_warps": Category.REGISTERS, "num_stages": Category.PIPELINE}
MOST_THREADS = 1024
# What experience promises is not believed beyond this: it was measured on other sources (R38).
MOST_PROMISED = 2.0

FIRST = "first.inductor"
# Where nobody knows how far torch is from the floor.
FIRST_GAIN = 1.5
STRATEGY = "tune.space"
# How much a search over all knobs is hoped to bring; recipes that suit a source promise more.
HOPED = 1.15
# A model of products is coarse, and is believed from here on.
MODELLED_GAIN = 1.3
# By kind of device. A search ends earlier where its next point is expected to gain next to nothing.
MOST_POINTS = {"cpu": 64, "gpu": 400}
MOST_S = {"cpu": 100.0, "gpu": 110.0}
# What a device of this kind cannot time cannot be searched.
NOT_TIMED = {("triton", "cpu")}
FEW = 4


class IdeaRank(IntEnum):
    """What experience makes of an idea before any estimate counts."""

    SPENT = 0  # it did not work elsewhere
    OWN = 1
    POINTED = 2  # the incumbent's profile shows what it is against
    MODELLED = 3  # a model of the kernel shows that it helps
    RECOMMENDED = 4


@dataclass(frozen=True, slots=True)
class Idea:
    """One possible round. expected: the speed-up hoped for (1.2 = 1.2x faster).

    follows: the uuids of the entries of experience that it follows. cites: see `Hypothesis`.
    """

    strategy: str
    title: str
    change: str
    rationale: str
    risks: str
    expected: float
    params: Mapping[str, Param]
    candidates: tuple[Variant, ...]
    category: Category
    rank: IdeaRank = IdeaRank.OWN
    is_suited: bool = False
    follows: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    sweep: SweepPlan | None = None

    @property
    def order(self) -> tuple[int, bool, float, str]:
        """The largest is tried first: what suits the class goes before the rest of its rank."""
        return self.rank, self.is_suited, self.expected, self.strategy

    def draft(self, facts: Facts) -> Draft:
        """The round to propose, with the numbers it rests on (R27)."""
        seen = facts.seen
        # Where nothing points at it, what limits the kernel is the reason to try it.
        cites = self.cites or ((LIMIT,) if LIMIT in seen else ())
        told = (seen[name] for name in cites if name != LIMIT and name in seen)
        hypothesis = Hypothesis(
            strategy=self.strategy,
            title=self.title,
            change=self.change,
            rationale=self.rationale,
            evidence=(*told, *facts.sentences()),
            expected_metric="time per call",
            expected_direction=MetricDirection.DOWN,
            expected_amount=round(1.0 - 1.0 / self.expected, 3),
            risks=self.risks,
            params=self.params,
            bucket=Bucket.K1,
            follows=self.follows,
            cites=cites,
        )
        return Draft(hypothesis, self.candidates, self.sweep)


def advised(idea: Idea, situation: Situation) -> Idea | None:
    """The idea as experience has it; None where trying it would be the same experiment again.

    A retry needs a new reason, and says it (R36). Advice is followed in its order and by its
    values; the idea stays as it is where none of those can be tried on it.
    """
    # A sweep's entry is about its best candidate, so the others were no better.
    tried = {values_of(variant): variant for variant in idea.candidates}
    spent = [s for s in situation.spent if s.strategy == idea.strategy and s.params in tried]
    if any(one.is_same for one in spent):
        return None
    if spent and len(idea.candidates) == 1:
        why = f"It showed no gain in {spent[0].words}; tried again because {spent[0].news}."
        return replace(idea, rank=IdeaRank.SPENT, rationale=f"{idea.rationale} {why}")
    advice = advice_on(idea.strategy, situation)
    if advice is None:
        return idea
    best = [tried[values] for values in advice.params if values in tried]
    if advice.params and not best:
        return idea
    told = replace(
        idea,
        rank=IdeaRank.RECOMMENDED,
        expected=min(1 + advice.gain, MOST_PROMISED) if advice.gain else idea.expected,
        candidates=(*best, *(variant for variant in idea.candidates if variant not in best)),
        rationale=f"{idea.rationale} Followed: {advice.strategy}, {advice.words}.",
        follows=advice.entries,
    )
    if not best or not advice.is_here or len(idea.candidates) == 1:
        return told
    change = f"{best[0].label}: it worked best in this context before."
    return replace(told, change=change, candidates=(best[0],), params=dict(best[0].params))


def pointed_at(idea: Idea, situation: Situation) -> Idea:
    """The idea with what the incumbent's profile shows for it, and the place that this gives it.

    A finding that was followed often and never paid gives none (R26), nor does a target that the
    machine code misses: it says what is there, and not what that costs.
    """
    found = [one for one in situation.pointed if idea.strategy in one.names]
    idea = replace(idea, is_suited=idea.strategy in situation.suited)
    if not found:
        return idea
    counted = [one for one in found if cites_profile(one.cites)]
    trusted = not all(one.trust and one.trust.is_lost for one in counted)
    raised = bool(counted) and trusted and idea.rank is not IdeaRank.SPENT
    rank = max(idea.rank, IdeaRank.POINTED) if raised else idea.rank
    return replace(idea, rank=IdeaRank(rank), cites=tuple(one.cites for one in found))


def values_of(variant: Variant) -> Values:
    return tuple(sorted(variant.params.items()))


def advice_on(strategy: str, situation: Situation) -> Advice | None:
    """What experience recommends of a strategy that this campaign has not tried yet."""
    if any(attempt.strategy == strategy for attempt in situation.history):
        return None
    return next((one for one in situation.learned if one.is_about(strategy)), None)


def told_values(situation: Situation, strategy: str, name: str) -> Iterator[Param]:
    """The values of one parameter that worked best elsewhere, best first."""
    advice = advice_on(strategy, situation)
    for values in advice.params if advice else ():
        found = dict(values).get(name)
        if found is not None:
            yield found


def recipe_ideas(situation: Situation) -> Iterator[Idea]:
    """One idea for each recipe that recognises the incumbent's source."""
    facts = read_facts(situation.evidence)
    for name, found in recipes().items():
        variants = found.variants(situation)
        if not variants:
            continue
        params: dict[str, Param] = dict(variants[0].params)
        if len(variants) > 1:
            params = {"variants": "; ".join(variant.label for variant in variants)}
        yield Idea(
            strategy=name,
            title=found.title,
            change=found.change,
            rationale=found.rationale,
            risks=found.risks,
            expected=found.expected(facts),
            params=params,
            candidates=variants,
            category=found.category,
        )


def first_ideas(situation: Situation) -> Iterator[Idea]:
    """The kernel to begin with, where the incumbent is the reference, run by torch."""
    first = situation.first
    if first is None:
        return
    share = read_facts(situation.evidence).share
    yield Idea(
        strategy=FIRST,
        title=f"Begin with the kernel that {first.label} makes of the reference",
        change=f"{first.label}, the compiler that comes with torch, fuses the reference's "
        "operators; its code is one source file now.",
        rationale="torch runs one operator after the other: each reads its inputs from memory and "
        "writes its whole answer there. Fused, what lies between them stays in registers, and each "
        "input is read once.",
        risks="Sums may be added in another order. Operators that were one library call may be "
        "faster as that.",
        # Halfway to the floor, as a ratio.
        expected=share**-0.5 if share else FIRST_GAIN,
        params=dict(first.params),
        candidates=(first,),
        category=Category.ALGORITHM,
    )


def told_ideas(situation: Situation) -> Iterator[Idea]:
    """One round for each number of the source of which experience knows a better value."""
    for tunable in find_tunables(situation.source, situation.backend):
        name = tunable.name
        for value in told_values(situation, f"tune.{name}", name):
            if not isinstance(value, int) or not may_have(tunable, value, situation.backend):
                continue
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
                category=TUNED.get(name, Category.LAUNCH),
            )
            break


def may_have(tunable: Tunable, value: int, backend: str) -> bool:
    """Whether this is another value than the present one, within the limits of a device."""
    most = 1 << 20
    if backend in ("cuda", "hip"):
        most = 32 if tunable.square else MOST_THREADS
    return 1 <= value <= most and value != tunable.value


def flag_ideas(situation: Situation) -> Iterator[Idea]:
    """One sweep of safe flags, then one round for those that relax arithmetic.

    None of what a search over the knobs of this very source has screened already.
    """
    known = _searched_flags(situation)
    for strategy, by_backend, gain in (
        ("flags.optimise", FLAG_SETS, FLAG_GAIN),
        ("flags.relaxed", RISKY_FLAG_SETS, RISKY_FLAG_GAIN),
    ):
        sets = by_backend.get(situation.backend, ())
        variants = tuple(
            Variant(extra.label, source, {"flags": " ".join(extra.flags)})
            for extra in sets
            if " ".join(extra.flags) not in known
            and (source := with_flags(situation.source, extra))
        )
        if not variants:
            continue
        listed = "; ".join(str(variant.params["flags"]) for variant in variants)
        yield Idea(
            strategy=strategy,
            title="Try other compiler flags",
            change=f"The same source built with {listed}.",
            rationale="The compiler may schedule, unroll or vectorise the same source better when "
            "it is allowed to.",
            risks=" ".join(s.risk for s in sets if s.risk) or "None beyond a longer build.",
            expected=gain,
            params={"flags": listed},
            candidates=variants,
            category=Category.INSTRUCTIONS,
        )


def _searched_flags(situation: Situation) -> frozenset[Param]:
    """The sets of flags that a search has tried, from this incumbent on or as its origin."""
    now = situation.incumbent_round
    # A point that a search elsewhere found best has no size, and names the flags among its knobs.
    found = any(
        each.strategy == STRATEGY
        and now in (each.round, each.params.get("from round"))
        and ("points" in each.params or FLAGS in each.params)
        for each in situation.history
    )
    if not found:
        return frozenset()
    knobs = space_of(situation.source, situation.backend, situation.limits).knobs
    return frozenset(value for knob in knobs if knob.name == FLAGS for value in knob.values)


def space_ideas(situation: Situation) -> Iterator[Idea]:
    """The search over the incumbent's knobs; none where it comes out of such a search itself."""
    source, kind, now = situation.source, situation.device_kind, situation.incumbent_round
    if (situation.backend, kind) in NOT_TIMED or any(
        attempt.round == now and attempt.strategy == STRATEGY for attempt in situation.history
    ):
        return
    space = space_of(
        source, situation.backend, situation.limits, element_bytes=situation.element_bytes
    )
    if space.size < 2:
        return
    yield from _known_point(situation, space)
    names = [knob.name for knob in space.knobs]
    modelled = fastest_modelled(space, situation.product)
    few = ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
    yield Idea(
        strategy=STRATEGY,
        title=f"Search tile and schedule: {few}",
        change=f"Other values of {', '.join(names)}: the most "
        f"promising of {space.size:,} points are screened, and the best are measured in full.",
        rationale="The best values follow from the chip's registers, caches and schedulers "
        "together, and trying many is surer than guessing one.",
        risks="A point may exceed a limit of the device; it then fails alone.",
        expected=max(HOPED, min(modelled.gain, MOST_PROMISED)),
        params={"knobs": ", ".join(names), "points": str(space.size), "from round": now},
        candidates=(Variant("as it is", source, dict(space.defaults)),),
        category=Category.LAUNCH,
        rank=IdeaRank.MODELLED if modelled.gain >= MODELLED_GAIN else IdeaRank.OWN,
        sweep=SweepPlan(
            knobs=tuple((knob.name, knob.values, knob.default) for knob in space.knobs),
            size=space.size,
            strategy=DEFAULT,
            seed=situation.seed,
            seeds=tuple(_seeds(situation, space, modelled.points)),
            most_points=MOST_POINTS[kind],
            most_s=MOST_S[kind],
        ),
    )


def _known_point(situation: Situation, space: Space) -> Iterator[Idea]:
    """The best point of a search in this very context, which needs no other search."""
    advice = advice_on(STRATEGY, situation)
    if advice is None or not advice.is_here:
        return
    for values in advice.params:
        point = {**space.defaults, **dict(values)}
        if space.is_legal(point) or point == space.defaults:
            continue
        changed = {k: v for k, v in point.items() if v != space.defaults[k]}
        label = ", ".join(f"{name} {value}" for name, value in changed.items())
        source = render(situation.source, space, point)
        yield Idea(
            strategy=STRATEGY,
            title=f"Set {label}"[:120],
            change=f"The knobs become {label}.",
            rationale="A search over these knobs found this point best.",
            risks="It was found on another source of the same knobs.",
            expected=HOPED,
            params=dict(values),
            candidates=(Variant(label[:120], source, dict(values)),),
            category=Category.LAUNCH,
        )
        return


def _seeds(situation: Situation, space: Space, modelled: tuple[Point, ...]) -> Iterator[Point]:
    """The source as it is, what worked best elsewhere, and what a model of the product takes."""
    yield space.defaults
    told: dict[str, Param] = {}
    for knob in space.knobs:
        known = (
            *told_values(situation, f"tune.{knob.name}", knob.name),
            *told_values(situation, STRATEGY, knob.name),
        )
        if known and known[0] in knob.values:
            told[knob.name] = known[0]
    point = {**space.defaults, **told}
    if told and not space.is_legal(point):
        yield point
    yield from modelled
