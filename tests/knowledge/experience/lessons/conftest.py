"""Attempts, and lessons that rest on them."""

import pytest

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.lessons.decide import approve_lesson, propose_lesson
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.terms import AttemptLabel
from knowledge.models import ExperienceOrigin

SCOPE = {"op": "matmul", "backend": "triton", "platform": "x-9", "arch": "sm_90"}


def attempt(label="success", gain=0.12, **more):
    """One stored attempt at `tr.num_warps` on a matmul."""
    fields = {
        "strategy": "tr.num_warps",
        "label": AttemptLabel(label),
        "origin": ExperienceOrigin.IMPORTED,
        "gain": gain,
        "dtype": "float16",
        **SCOPE,
    }
    (made,) = record_attempts([NewExperience(**(fields | more))])
    return made


def new_lesson(**more):
    fields = {
        "context": "Large square matmuls, tiles of 128 by 128.",
        "signal": "The profile shows 4 warps waiting on shared memory.",
        "takeaway": "Use 8 warps for tiles of 128 by 128.",
        "applicability": "Holds for K above 1024; not for skinny shapes.",
        "strategy": "tr.num_warps",
        **SCOPE,
    }
    return NewLesson(**(fields | more))


@pytest.fixture
def entry(db):
    return attempt()


@pytest.fixture
def lesson(entry, engineer):
    """Proposed by the engineer."""
    return propose_lesson(new_lesson(evidence=[str(entry.uuid)]), engineer)


@pytest.fixture
def active(lesson, curator):
    return approve_lesson(lesson, curator, "seen it too")
