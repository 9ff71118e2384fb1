"""What the team's experience recommends: scope, widening, what to avoid, lessons (R38, R40)."""

import pytest

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.attempts.standing import refresh
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Question
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models import (
    EntryStanding,
    Experience,
    ExperienceOrigin,
    Lesson,
    LessonSource,
    LessonState,
    Strategy,
    StrategyKind,
)

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

ASKED = Question(
    op="softmax",
    backend="triton",
    platform="a6000",
    arch="sm_86",
    dtype="fp32",
    bottleneck=Bottleneck.MEMORY_DRAM,
)


def attempt(strategy: str, gain: float | None = 0.1, **more: object) -> NewExperience:
    label = AttemptLabel.SUCCESS if gain is None or gain > 0 else AttemptLabel.REGRESSION
    fields: dict[str, object] = {
        "strategy": strategy,
        "label": label,
        "origin": ExperienceOrigin.IMPORTED,
        "op": "softmax",
        "dtype": "fp32",
        "backend": "triton",
        "platform": "a6000",
        "arch": "sm_86",
        "bottleneck": Bottleneck.MEMORY_DRAM,
        "gain": gain,
    }
    return NewExperience(**(fields | more))  # type: ignore[arg-type]


def strategies(hits) -> list[str]:
    return [hit.strategy for hit in hits]


def lesson(strategy: str, state: LessonState, **scope: str) -> Lesson:
    return Lesson.objects.create(
        strategy=strategy,
        state=state,
        source=LessonSource.PERSON,
        context="c",
        signal="s",
        takeaway="It makes rows wait for each other.",
        applicability="a",
        **scope,
    )


def test_a_hit_shows_its_record_and_where_it_is_from():
    gains = [0.05, 0.10, 0.30]
    made = record_attempts(attempt("tr.tile", gain) for gain in gains)
    (hit,) = recommend(ASKED).hits
    assert (hit.strategy, hit.scope) == ("tr.tile", "softmax · triton · a6000")
    assert (hit.tried, hit.worked) == (3, 3)
    assert (hit.gain_median, hit.gain_low, hit.gain_high) == (0.10, 0.05, 0.30)
    assert hit.entries == tuple(str(row.uuid) for row in reversed(made))
    assert hit.tracks == (made[0].track_id,)
    assert hit.score == pytest.approx(sum(reason.points for reason in hit.reasons), abs=0.05)


def test_the_median_is_over_all_contexts_of_a_hit():
    record_attempts(
        attempt("tr.tile", gain, dtype=dtype)
        for dtype, gain in [("fp32", 0.1), ("bf16", 0.2), ("fp16", 0.6), ("fp16", None)]
    )
    (hit,) = recommend(ASKED).hits
    assert (hit.tried, len(hit.tracks)) == (4, 3)
    assert (hit.gain_median, hit.gain_low, hit.gain_high) == (0.2, 0.1, 0.6)


def test_what_did_not_work_is_to_be_avoided_with_its_numbers():
    made = record_attempts([attempt("tr.warps", -0.38), attempt("tr.tile")])
    answer = recommend(ASKED)
    assert strategies(answer.hits) == ["tr.tile"]
    (bad,) = answer.avoid
    assert (bad.strategy, bad.tried, bad.worked, bad.gain_median) == ("tr.warps", 1, 0, -0.38)
    assert bad.entries == (str(made[0].uuid),)


def test_a_wrong_answer_is_the_first_example_against_a_strategy():
    wrong = attempt("tr.warps", None, label=AttemptLabel.INCORRECT)
    made = record_attempts([attempt("tr.warps", -0.1), wrong, attempt("tr.warps", -0.2)])
    (bad,) = recommend(ASKED).avoid
    assert bad.entries == tuple(str(made[at].uuid) for at in (1, 2, 0))


def test_the_scope_is_a_hard_boundary():
    record_attempts(
        [
            attempt("other-op", op="matmul"),
            attempt("mine"),
            attempt("other-platform", platform="h100", arch="sm_90"),
            attempt("other-backend", backend="cuda"),
        ]
    )
    assert strategies(recommend(ASKED, limit=1).hits) == ["mine"]
    answer = recommend(ASKED, limit=9)
    assert answer.excluded == {"on other platforms": 1, "with other backends": 1}


def test_it_is_widened_only_where_too_little_is_found_and_says_so():
    record_attempts(
        [
            attempt("cu.online", backend="cuda"),
            attempt("vendor", platform="h100", arch="sm_90"),
            attempt("arch", platform="a40"),
            attempt("family", op="layernorm"),
            attempt("mine"),
            attempt("unrelated", op="matmul"),
            attempt("amd", platform="mi300x", arch="gfx942"),
        ]
    )
    found = [(hit.strategy, hit.scope) for hit in recommend(ASKED, limit=9).hits]
    assert found == [
        ("mine", "softmax · triton · a6000"),
        ("family", "same family: layernorm · triton · a6000"),
        ("arch", "same architecture: softmax · triton · a40"),
        ("vendor", "same vendor: softmax · triton · h100"),
        ("cu.online", "other backends: softmax · cuda · a6000"),
    ]
    assert strategies(recommend(ASKED, limit=2).hits) == ["mine", "family"]
    assert strategies(recommend(ASKED, limit=3).hits) == ["mine", "family", "arch", "vendor"][:3]


def test_a_bad_record_elsewhere_is_no_warning_here():
    record_attempts([attempt("tr.warps", -0.3, platform="h100", arch="sm_90")])
    answer = recommend(ASKED)
    assert (answer.hits, answer.avoid) == ((), ())


def test_masked_merged_and_withdrawn_entries_are_invisible():
    made = record_attempts([attempt("tr.tile", gain) for gain in (0.1, 0.2, 0.3, 0.4)])
    for row, standing in zip(made, EntryStanding.values, strict=True):
        Experience.objects.filter(pk=row.pk).update(standing=standing)
    refresh({made[0].track_id})
    (hit,) = recommend(ASKED).hits
    assert (hit.tried, hit.gain_median, hit.entries) == (1, 0.1, (str(made[0].uuid),))


def test_an_anti_pattern_in_scope_demotes_a_strategy_and_is_named():
    record_attempts([attempt("tr.warps"), attempt("tr.tile")])
    said = lesson("tr.warps", LessonState.ANTI_PATTERN, op="softmax")
    good = lesson("tr.tile", LessonState.ACTIVE)
    lesson("tr.tile", LessonState.ANTI_PATTERN, op="matmul")
    lesson("tr.tile", LessonState.PROPOSED)
    lesson("tr.tile", LessonState.RETRACTED)
    answer = recommend(ASKED)
    assert strategies(answer.hits) == ["tr.tile"]
    assert answer.hits[0].lessons == (str(good.uuid),)
    (bad,) = answer.avoid
    assert bad.lessons == (str(said.uuid),)
    assert "rows wait for each other" in bad.reasons[-1].words


def test_an_anti_pattern_is_named_without_any_attempt():
    lesson("tr.stages", LessonState.ANTI_PATTERN, backend="triton")
    (bad,) = recommend(ASKED).avoid
    assert (bad.strategy, bad.tried, bad.entries) == ("tr.stages", 0, ())


def test_an_anti_pattern_of_the_catalogue_is_never_a_hit():
    Strategy.objects.create(
        slug="tr.anti.warps",
        kind=StrategyKind.ANTI_PATTERN,
        title="More warps",
        document="d",
        line=1,
    )
    record_attempts([attempt("tr.anti.warps")])
    answer = recommend(ASKED)
    assert answer.hits == ()
    assert (answer.avoid[0].title, answer.avoid[0].worked) == ("More warps", 1)


def test_entries_without_a_strategy_are_counted_as_left_out():
    record_attempts([attempt(""), attempt("tr.tile")])
    answer = recommend(ASKED)
    assert strategies(answer.hits) == ["tr.tile"]
    assert answer.excluded == {"without a strategy": 1}


def test_without_an_operation_there_is_nothing_to_recommend():
    record_attempts([attempt("tr.tile", op="")])
    assert recommend(Question(backend="triton", platform="a6000")).hits == ()


def test_it_costs_a_few_queries(django_assert_max_num_queries):
    record_attempts(attempt(f"s{n}", 0.1, platform=f"p{n}") for n in range(9))
    with django_assert_max_num_queries(10):
        assert len(recommend(ASKED).hits) == 5


def test_of_what_worked_and_what_did_not_at_most_the_limit_is_shown():
    record_attempts(attempt(f"s{n}", gain) for n in range(8) for gain in (0.1,))
    record_attempts(attempt(f"t{n}", -0.1) for n in range(8))
    answer = recommend(ASKED, limit=3)
    assert strategies(answer.hits) == ["s0", "s1", "s2"]
    assert strategies(answer.avoid) == ["t0", "t1", "t2"]
