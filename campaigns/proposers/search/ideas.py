"""Turns recipes, tunables, flags and the space of all knobs into ideas that can be compared."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.evaluator.contract import Param
from campaigns.proposers.base import Category, Situation, SweepPlan, Variant
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.recipes.base import recipes
from campaigns.proposers.search.idea import Idea, advice_on, told_values
from campaigns.spaces.find import space_of
from campaigns.spaces.matmul_model import ranked, tile_knobs
from campaigns.spaces.render import FLAG_SETS, RISKY_FLAG_SETS, FlagSet, render, with_flags
from campaigns.spaces.space import Point, Space
from campaigns.strategies.registry import DEFAULT
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
        params: dict[str, Param] = dict(variants[0].params) if len(variants) == 1 else {}
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


STRATEGY = "tune.space"
# How much a search over all knobs is hoped to bring; recipes that suit a source promise more.
HOPED = 1.15
# By kind of device: a CPU screens some twenty variants a minute, a GPU hundreds.
MOST_POINTS = {"cpu": 48, "gpu": 400}
MOST_S = {"cpu": 100.0, "gpu": 110.0}
# Of so many points a model of matrix products ranks, the search begins with so many.
MODELLED, MODEL_SEEDS = 20_000, 12
# What a device of this kind cannot time cannot be searched.
NOT_TIMED = {("triton", "cpu")}


def space_ideas(situation: Situation) -> Iterator[Idea]:
    """The search over the incumbent's knobs; none where it comes out of such a search itself."""
    if (situation.backend, situation.device_kind) in NOT_TIMED or _comes_from_one(situation):
        return
    space = space_of(
        situation.source,
        situation.backend,
        situation.limits,
        element_bytes=situation.element_bytes,
    )
    if space.size < 2:
        return
    yield from _known(situation, space)
    names = ", ".join(knob.name for knob in space.knobs)
    plan = _plan(situation, space)
    yield Idea(
        strategy=STRATEGY,
        title=f"Search tile and schedule: {_few(names)}",
        change=f"Other values of {names}: at most {plan.most_points} of {space.size:,} points are "
        "screened, and the best are measured in full.",
        rationale="The best values follow from the chip's registers, caches and schedulers "
        "together, and trying many is surer than guessing one.",
        risks="A point may exceed a limit of the device; it then fails alone.",
        expected=HOPED,
        params={"knobs": names, "points": str(space.size), "from round": situation.incumbent_round},
        candidates=(Variant("as it is", situation.source, dict(space.defaults)),),
        category=Category.LAUNCH,
        sweep=plan,
    )


def _known(situation: Situation, space: Space) -> Iterator[Idea]:
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
        yield Idea(
            strategy=STRATEGY,
            title=f"Set {label}"[:120],
            change=f"The knobs become {label}.",
            rationale="A search over these knobs found this point best.",
            risks="It was found on another source of the same knobs.",
            expected=HOPED,
            params=dict(values),
            candidates=(
                Variant(label[:120], render(situation.source, space, point), dict(values)),
            ),
            category=Category.LAUNCH,
        )
        return


def _comes_from_one(situation: Situation) -> bool:
    return any(
        attempt.round == situation.incumbent_round and attempt.strategy == STRATEGY
        for attempt in situation.history
    )


def _plan(situation: Situation, space: Space) -> SweepPlan:
    kind = situation.device_kind
    return SweepPlan(
        knobs=tuple((knob.name, knob.values, knob.default) for knob in space.knobs),
        size=space.size,
        strategy=DEFAULT,
        seed=situation.seed,
        seeds=tuple(_seeds(situation, space)),
        most_points=MOST_POINTS[kind],
        most_s=MOST_S[kind],
    )


def _seeds(situation: Situation, space: Space) -> Iterator[Point]:
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
    knobs = tile_knobs(space)
    if situation.product is not None and knobs is not None:
        points = space.points_at_most(MODELLED)
        product = situation.product
        yield from ranked(points, product.shape, product.device, knobs)[:MODEL_SEEDS]


def _few(names: str) -> str:
    listed = names.split(", ")
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")
