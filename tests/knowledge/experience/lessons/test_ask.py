"""Which lessons hold in a context, which are near, and which were measured with other versions."""

import pytest

from knowledge.experience.lessons.ask import lessons_for, similar_lessons
from knowledge.experience.lessons.listing import NewerVersion, newer_versions_of_lesson
from knowledge.models import Lesson
from tests.knowledge.experience.lessons.conftest import SCOPE, attempt

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

HERE = {**SCOPE, "dtype": "float16"}


def stored(takeaway, state="active", confirmed=0, contradicted=0, **scope):
    return Lesson.objects.create(
        takeaway=takeaway, context="c", signal="s", applicability="a", source="person",
        state=state, confirmed=confirmed, contradicted=contradicted, **scope,
    )  # fmt: skip


def test_the_most_specific_comes_first_then_the_best_confirmed(db):
    anywhere = stored("anywhere", confirmed=9)
    doubted = stored("doubted", op="matmul", confirmed=5, contradicted=4)
    sure = stored("sure", op="matmul", confirmed=3)
    here = stored("here", state="anti_pattern", op="matmul", platform="x-9")
    assert lessons_for(**HERE) == [here, sure, doubted, anywhere]
    assert lessons_for(**HERE, limit=1) == [here]


@pytest.mark.parametrize("state", ["proposed", "returned", "retracted"])
def test_machines_see_only_what_is_in_use(db, state):
    stored("x", state=state)
    assert lessons_for(**HERE) == []


@pytest.mark.parametrize("scope", [{"op": "softmax"}, {"arch": "sm_80"}, {"dtype": "float32"}])
def test_another_scope_is_a_hard_boundary(db, scope):
    stored("x", **scope)
    assert lessons_for(**HERE) == []


def test_an_unknown_place_meets_only_general_lessons(db):
    stored("x", platform="x-9")
    general = stored("y")
    assert lessons_for(**(HERE | {"platform": ""})) == [general]


def test_a_dtype_that_is_not_said_may_be_any(db):
    lesson = stored("x", dtype="float16")
    assert lessons_for(**(HERE | {"dtype": ""})) == [lesson]
    assert lessons_for(**(HERE | {"dtype": "float64"})) == []


def test_what_says_nearly_the_same_is_found(db):
    near = stored("Use 8 warps for tiles of 128 by 128 on Hopper.")
    stored("Vectorise loads of the epilogue.")
    stored("Use 8 warps for tiles of 128 by 128.", state="retracted")
    assert similar_lessons("use 8 warps for 128 by 128 tiles") == [near]
    assert similar_lessons("use 8 warps for 128 by 128 tiles", besides=near) == []


def test_a_lesson_is_stale_once_a_newer_compiler_is_in_use(active):
    attempt(compiler="triton 3.7.0", strategy="tr.other")
    assert newer_versions_of_lesson(active) == [], "nobody wrote down what its own attempt ran with"
    attempt(compiler="triton 3.5.0")
    assert newer_versions_of_lesson(active) == []
    attempt(compiler="triton 3.7.1", strategy="tr.other")
    assert newer_versions_of_lesson(active) == [
        NewerVersion("compiler", "triton 3.5.0", "x-9", "triton 3.7.1")
    ]
