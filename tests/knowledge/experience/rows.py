"""Experience as a team would have it: a few hundred attempts with skew, lessons, gaps, conflicts.

Seeded, so that every run has the same rows.
"""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.terms import AttemptLabel, Bottleneck, label_of
from knowledge.models import (
    Experience,
    ExperienceOrigin,
    Gap,
    Lesson,
    LessonEvidence,
    LessonSource,
    LessonState,
    Strategy,
    StrategyKind,
)

FLOOR = 0.01
START = datetime.datetime(2026, 3, 1, 9, 0, tzinfo=datetime.UTC)
PLACES = [("h200", "sm_90"), ("a6000", "sm_86"), ("mi308x", "gfx942"), ("b200", "sm_100")]
OPS = ["matmul", "softmax", "layernorm", "attention", "vector_add"]


@dataclass(frozen=True)
class Habit:
    """How a strategy tends to do. mean, spread: of its gain; wrong: share of wrong results."""

    slug: str
    title: str
    bottleneck: Bottleneck
    mean: float
    spread: float
    wrong: float = 0.0


HABITS = (
    Habit(
        "tr.swizzle", "Order programs so that the cache is reused", Bottleneck.MEMORY, 0.09, 0.05
    ),
    Habit("tr.warps", "Choose the number of warps", Bottleneck.OCCUPANCY, 0.03, 0.04),
    Habit("tr.stages", "Pipeline loads in more stages", Bottleneck.LATENCY, 0.06, 0.08),
    Habit("tr.vectorise", "Load 16 bytes a thread", Bottleneck.MEMORY_DRAM, 0.12, 0.06),
    Habit("tr.split-k", "Split the reduction", Bottleneck.TAIL, -0.02, 0.12, 0.05),
    Habit("tr.persistent", "One program a multiprocessor", Bottleneck.LAUNCH, 0.02, 0.05),
    Habit("tr.one-pass", "Fold three passes into one", Bottleneck.MEMORY, 0.31, 0.12, 0.1),
    Habit("tr.cache-hints", "Evict what is read once", Bottleneck.MEMORY, -0.01, 0.015),
    Habit("cu.unroll", "Unroll the inner loop", Bottleneck.COMPUTE, -0.04, 0.03),
    Habit("tr.bf16-accumulate", "Accumulate in 16 bits", Bottleneck.COMPUTE, 0.2, 0.1, 0.9),
)


def some_experience(attempts: int = 300, seed: int = 7) -> list[Experience]:
    """Record so many attempts of the strategies above, most of them of two operations."""
    dice = random.Random(seed)
    for line, habit in enumerate(HABITS, 10):
        Strategy.objects.get_or_create(
            slug=habit.slug,
            defaults={
                "kind": StrategyKind.TECHNIQUE,
                "title": habit.title,
                "document": "docs/guides/triton.md",
                "line": line,
            },
        )
    return record_attempts(_attempt(dice, number) for number in range(attempts))


def _attempt(dice: random.Random, number: int) -> NewExperience:
    habit = dice.choices(HABITS, weights=range(len(HABITS), 0, -1))[0]
    platform, arch = dice.choices(PLACES, weights=(8, 4, 3, 1))[0]
    op = dice.choices(OPS, weights=(8, 6, 3, 2, 1))[0]
    correct = dice.random() >= habit.wrong
    gain = round(dice.gauss(habit.mean, habit.spread), 4) if correct else None
    reach = dice.uniform(0.004, 0.02)
    faster = gain is not None and gain - reach > 0
    measured = gain is not None and dice.random() > 0.1
    return NewExperience(
        strategy=habit.slug,
        label=label_of(gain, correct=correct, faster=faster, floor=FLOOR),
        origin=ExperienceOrigin.IMPORTED,
        op=op,
        dtype=dice.choice(["float16", "float32", "bfloat16"]),
        backend="triton",
        platform=platform,
        arch=arch,
        bottleneck=habit.bottleneck,
        shapes=[{"M": 2 ** dice.choice([10, 12, 13]), "N": 4096}],
        params={"num_warps": dice.choice([4, 8]), "stages": dice.choice([2, 3, 4])},
        title=f"{habit.title} in {op}",
        change=f"{habit.title}: grouped the programs of {op} by rows of eight.",
        evidence=["dram__throughput 91 % of its peak", "l2 hit rate 34 %"],
        precondition="The grid is larger than one wave.",
        problem=f"{op}-fp16",
        proposer=dice.choice(["search", "recipes", "person"]),
        verdict="accepted" if faster else "rejected",
        gain=gain,
        gain_low=round(gain - reach, 4) if gain is not None and measured else None,
        gain_high=round(gain + reach, 4) if gain is not None and measured else None,
        pairs=24 if measured else 0,
        baseline="round 3's kernel",
        expected_gain=round(habit.mean + dice.gauss(0, 0.03), 3),
        borne=dice.choice(["confirmed", "partly confirmed", "refuted"]) if gain is not None else "",
        compiler="triton 3.7.1" if number % 3 else "triton 3.5.0",
        driver="580.65.06" if number % 3 else "550.54.15",
        metrics={"before": {"l2_hit_pct": 34.0}, "after": {"l2_hit_pct": 71.5}},
        notes="The last wave was half empty.",
        external=f"old-{number:04d}",
        happened_at=START + datetime.timedelta(hours=7 * number),
    )


def some_lessons(entries: list[Experience]) -> list[Lesson]:
    """Three lessons that rest on entries, one of them an anti-pattern; and two open gaps."""
    texts = [
        ("Grouping programs pays when the L2 hit rate is under 40 %.", LessonState.ACTIVE),
        ("16-bit accumulation is never correct for K above 2,048.", LessonState.ANTI_PATTERN),
        ("Four stages need 96 KB of shared memory: check before.", LessonState.ACTIVE),
    ]
    made = []
    for (takeaway, state), first in zip(texts, entries, strict=False):
        lesson = Lesson.objects.create(
            context="Memory-bound kernels on NVIDIA cards.",
            signal="l2 hit rate under 40 % while DRAM is at 90 % of its peak",
            takeaway=takeaway,
            applicability="Triton, sm_80 and newer.",
            avoid=state == LessonState.ANTI_PATTERN,
            state=state,
            source=LessonSource.PERSON,
            op=first.track.op,
            backend="triton",
            confirmed=1,
        )
        LessonEvidence.objects.create(lesson=lesson, entry=first, agrees=True)
        made.append(lesson)
    for question in ("Does TMA help row softmax under 1,024 columns?", "Why is split-K slow here?"):
        Gap.objects.create(question=question, op="softmax", backend="triton")
    return made


def counting(label: AttemptLabel, entries: list[Experience]) -> Experience:
    """The first of the entries with this label."""
    return next(entry for entry in entries if entry.label == label)
