"""An import is planned, asked about, confirmed and undone as one; a broken row stores nothing."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.db import transaction

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.exchange.batches import confirm, drop, undo
from knowledge.experience.attempts.merging import merge
from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.exchange.naming import LEAVE_OUT, UNREAD
from knowledge.experience.exchange.plan import answer_questions, plan_import
from knowledge.experience.lessons.decide import propose_lesson
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.experience.writers.selection import Selection
from knowledge.experience.writers.texts import csv_text, json_text, markdown_text
from knowledge.models import (
    Adoption,
    Batch,
    EntryStanding,
    Experience,
    ExperienceOrigin,
    Gap,
    Lesson,
    LessonState,
    SearchRow,
    TrackRecord,
)

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[1] / "golden"
TIPS = "historical/gfx950/grouped_gemm_fp8/triton/tips.md"
LOG = {"experiences.json": (GOLDEN / "experiences.json").read_text()}


def files(*names):
    return {name: (GOLDEN / name).read_text() for name in names}


def brought(texts, by=None):
    """Planned, everything kept as it is, and confirmed."""
    batch = plan_import(texts, by)
    answer_questions(batch, {}, by, keep_others=True)
    confirm(batch, by)
    return batch


def counts():
    return [
        list(TrackRecord.objects.order_by("pk").values_list("strategy", "tried", "gain_median")),
        Experience.objects.filter(standing=EntryStanding.COUNTS).count(),
        Lesson.objects.exclude(state=LessonState.RETRACTED).count(),
    ]


def test_a_plan_stores_nothing_but_itself():
    batch = plan_import(LOG, None)
    assert batch.plan["counts"] == {"create": 3, "skip": 1}
    assert batch.format == "experiences.json"
    assert not Experience.objects.exists()
    assert not TrackRecord.objects.exists()


def test_an_unknown_name_is_asked_and_never_guessed():
    batch = plan_import({"experiences.json": LOG["experiences.json"].replace("mha", "gemmx")}, None)
    asked = {question["key"]: question for question in batch.plan["questions"]}
    assert "matmul" in asked["op:gemmx"]["near"]
    assert asked["op:gemmx"]["first"] == "experiences.json:L17"
    assert asked["strategy:two-tiles-a-barrier"]["answer"] == ""
    with pytest.raises(CurationError, match=r"not answered: .*gemmx") as refused:
        confirm(batch, None)
    assert refused.value.field == "answers"
    assert not Experience.objects.exists()
    with pytest.raises(CurationError, match=r"op: 'gemmxx'; accepted: .*matmul"):
        answer_questions(batch, {"op:gemmx": "gemmxx"}, None)
    answer_questions(batch, {"op:gemmx": "mm"}, None, keep_others=True)
    confirm(batch, None)
    assert batch.answers["op:gemmx"] == "matmul"
    assert TrackRecord.objects.get(backend="triton").op == "matmul"


def test_a_strategy_that_is_not_named_can_be_named_row_by_row(shipped):
    batch = plan_import(LOG, None)
    key = "strategy@experiences.json:L10"
    with pytest.raises(CurationError, match="strategy: 'vectors'"):
        answer_questions(batch, {key: "vectors"}, None)
    answer_questions(batch, {key: "cu.vec128"}, None, keep_others=True)
    confirm(batch, None)
    assert Experience.objects.get(track__op="softmax").track.strategy == "cu.vec128"
    assert Experience.objects.get(track__op="attention").track.strategy == ""


def test_a_broken_row_is_named_and_nothing_is_imported():
    rows = json.loads(LOG["experiences.json"])
    rows[1]["metrics_after"]["latency_ms"] = -1
    batch = plan_import({"experiences.json": json.dumps(rows, indent=1)}, None)
    answer_questions(batch, {}, None, keep_others=True)
    (row,) = [row for row in batch.plan["rows"] if row["outcome"] == "error"]
    assert row["why"].startswith("metrics_after: latency_ms -1")
    with pytest.raises(CurationError, match=r"experiences.json:L\d+: metrics_after"):
        confirm(batch, None)
    assert (Experience.objects.count(), batch.state) == (0, "planned")


def tips(*takeaways):
    form = "### 2026-01-01 round-2 — ACCEPTED\n- Context: a\n- Signal: b\n- Takeaway: {}\n"
    text = "".join(form.format(each) + "- Applicability: c\n\n" for each in takeaways)
    return {"gfx950/matmul/triton/tips.md": text}


def test_lessons_that_are_too_long_are_named_and_may_be_left_out():
    batch = plan_import(tips("first", "x" * 601, "third"), None)
    (row,) = [row for row in batch.plan["rows"] if row["outcome"] == "error"]
    place = "gfx950/matmul/triton/tips.md:L7"
    assert (row["at"], row["why"]) == (place, "takeaway: 601 characters; accepted: at most 600")
    with pytest.raises(CurationError, match=r"L7: .*nothing was imported; --leave-out leaves"):
        confirm(batch, None)
    with pytest.raises(CurationError, match="rows: 'all'; accepted: leave out"):
        answer_questions(batch, {UNREAD: "all"}, None)
    answer_questions(batch, {}, None, keep_others=True)
    with pytest.raises(CurationError, match="nothing was imported"):
        confirm(batch, None)
    answer_questions(batch, {UNREAD: LEAVE_OUT}, None)
    assert batch.plan["counts"] == {"create": 2, "skip": 1}
    assert "left out by an answer: takeaway: 601" in batch.plan["rows"][0]["why"]
    confirm(batch, None)
    assert set(Lesson.objects.values_list("takeaway", flat=True)) == {"first", "third"}


def test_a_fault_that_hides_the_rest_of_its_file_is_not_left_out():
    batch = plan_import(tips("first") | {"experiences.json": "[\n{"}, None)
    assert [question["key"] for question in batch.plan["questions"]] == []
    with pytest.raises(CurationError, match=r"nothing was imported$"):
        confirm(batch, None)


def test_files_without_anything_to_read_are_refused_with_what_is_accepted():
    with pytest.raises(CurationError, match=r"files: none; accepted: experiences\.json"):
        plan_import({}, None)
    batch = plan_import({"a.json": "[1, 2]"}, None)
    assert "not recognised" in batch.plan["rows"][0]["why"]


def test_the_same_file_again_is_skipped_with_the_reason():
    brought(LOG)
    again = plan_import(LOG, None)
    assert again.plan["counts"] == {"skip": 4}
    assert "here already as" in again.plan["rows"][-1]["why"]


def test_the_same_idea_is_a_candidate_for_a_merge():
    brought(LOG)
    other = json.loads(LOG["experiences.json"])[:1]
    other[0] |= {"id": 9, "hypothesis": "Again"}
    batch = plan_import({"experiences.json": json.dumps(other)}, None)
    (row,) = batch.plan["rows"]
    assert row["outcome"] == "merge candidate"
    assert "the same idea as" in row["why"]


def test_undo_restores_every_count_and_the_index():
    before = counts()
    batch = brought(files("experiences.json", "anti.json", TIPS))
    assert (batch.entries.count(), batch.lessons.count()) == (3, 4)
    undo(batch, None, "wrong file")
    assert counts()[1:] == before[1:]
    assert {tried for _, tried, _ in counts()[0]} == {0}
    change = Experience.objects.first().changes.get()
    assert (change.action, "wrong file" in change.why) == ("withdrawn", True)
    marked = SearchRow.objects.filter(kind__in=("entry", "lesson"))
    assert {row.facets["standing"] for row in marked} == {"withdrawn", "retracted"}
    with pytest.raises(Conflict, match="only a confirmed import"):
        undo(batch, None, "again")


def test_what_was_undone_can_be_imported_again():
    batch = brought(LOG)
    text = json_text(Selection())
    undo(batch, None, "wrong")
    back = plan_import({"kopt.json": text}, None)
    assert back.plan["counts"] == {"back": 3}
    confirm(back, None)
    assert Experience.objects.filter(standing="counts", batch=back).count() == 3
    undo(back, None, "and away")
    assert not Experience.objects.filter(standing="counts").exists()


def test_undo_is_refused_where_something_rests_on_it(engineer):
    batch = brought(LOG)
    entry = batch.entries.first()
    Adoption.objects.create(campaign=3, round=7, strategy="x", entry=entry)
    with pytest.raises(Conflict, match="round 7 of campaign 3 used x"):
        undo(batch, None, "wrong")
    assert Experience.objects.filter(standing="counts").count() == 3


def test_undo_is_refused_where_a_lesson_cites_it(engineer):
    batch = brought(LOG)
    entry = batch.entries.first()
    new = NewLesson("a", "b", "c", "d", evidence=[str(entry.uuid)])
    propose_lesson(new, engineer)
    with pytest.raises(Conflict, match='the lesson "c" cites'):
        undo(batch, None, "wrong")


def test_an_engineers_lessons_are_proposals_and_a_curators_are_approved(engineer, curator):
    brought(files("anti.json"), engineer)
    assert Lesson.objects.get().state == LessonState.PROPOSED
    batch = brought(files(TIPS), curator)
    assert sorted(batch.lessons.values_list("state", flat=True)) == [
        "active", "active", "anti_pattern",
    ]  # fmt: skip


def test_a_tip_that_advises_a_forbidden_cache_is_asked_about(curator):
    batch = plan_import(files(TIPS), curator)
    key = f"lesson@{TIPS}:L18"
    answer_questions(batch, {key: "avoid"}, curator, keep_others=True)
    confirm(batch, curator)
    assert Lesson.objects.get(takeaway__contains="weakref").state == LessonState.ANTI_PATTERN


def test_who_may_import(viewer, engineer, curator):
    with pytest.raises(Forbidden):
        plan_import(LOG, viewer)
    batch = plan_import(LOG, curator)
    with pytest.raises(Forbidden):
        confirm(batch, engineer)
    drop(batch, curator, "no")
    with pytest.raises(Conflict, match="dropped by cora in the meantime"):
        confirm(batch, curator)
    assert Batch.objects.get().files == {}


def rich():
    """A masked, a merged and a plain attempt, a lesson on one of them, and a question."""
    made = record_attempts(
        NewExperience(
            strategy=" tune.BLOCK",
            label=AttemptLabel.SUCCESS,
            origin=ExperienceOrigin.ROUND,
            op="matmul",
            dtype="float32",
            backend="triton",
            platform="box",
            arch="sm_86",
            bottleneck=Bottleneck.MEMORY_DRAM,
            shapes=[{"M": 64, "order": "row"}],
            params={"BLOCK": n, "gain": 0.1},
            title="=1+1",
            change="<b>bold</b>\n- Signal: forged",
            evidence=["dram 93.1 %"],
            gain=0.123456789012345,
            gain_low=0.1,
            gain_high=0.15,
            pairs=30,
            masked=n == 1,
            notes="-danger, 'quoted'",
            metrics={"before": {"latency_ms": 1.5}},
            external=f"x {n}",
        )
        for n in range(3)
    )
    merge([made[2]], made[0], None, "twice")
    lesson = propose_lesson(
        NewLesson(
            "First\n\n- Context: forged\n# Head", "s", "t | u", "a", op="matmul", avoid=True,
            evidence=[str(made[0].uuid)],
        ),
        None,
    )  # fmt: skip
    Gap.objects.create(question="Does it help on <i>?", op="matmul")
    return made, lesson


@pytest.fixture
def elsewhere(db):
    """Take all back to before the test's own rows, as another installation would be."""
    with transaction.atomic():
        point = transaction.savepoint()
        yield lambda: transaction.savepoint_rollback(point)


def test_our_own_json_comes_back_as_it_was(elsewhere):
    made, _ = rich()
    text = json_text(Selection())
    elsewhere()
    assert not Experience.objects.exists()
    batch = brought({"kopt.json": text})
    assert batch.plan["counts"] == {"create": 5}
    again = json.loads(json_text(Selection()))
    before = json.loads(text)
    for entry in before["experience"]:
        entry["origin"] = "imported"
    assert again == before
    assert Experience.objects.get(uuid=made[1].uuid).standing == "masked"
    assert str(Experience.objects.get(uuid=made[2].uuid).merged_into.uuid) == str(made[0].uuid)
    assert TrackRecord.objects.get(strategy="tune.BLOCK").tried == 1


def test_our_own_csv_comes_back_and_runs_nothing_in_a_spreadsheet(elsewhere):
    rich()
    text = csv_text(Selection().entries().order_by("pk"))
    cells = list(csv.DictReader(io.StringIO(text)))
    assert cells[0]["title"] == "'=1+1"
    assert all(not cell.startswith(("=", "+", "@")) for row in cells for cell in row.values())
    before = json.loads(json_text(Selection()))["experience"]
    elsewhere()
    brought({"kopt.csv": text})
    after = json.loads(json_text(Selection()))["experience"]
    for entry in before:
        entry["origin"] = "imported"
    assert after == before


def test_numbers_of_the_csv_are_numbers_in_pandas():
    import pandas

    rich()
    table = pandas.read_csv(io.StringIO(csv_text(Selection().entries())))
    assert str(table["gain"].dtype) == "float64"
    assert str(table["pairs"].dtype) == "int64"
    assert table["gain"].max() == 0.123456789012345


def test_lessons_of_our_markdown_come_back(elsewhere):
    _, lesson = rich()
    text = markdown_text(Selection())
    assert "1 attempt: 1 worked" in text
    elsewhere()
    brought({"experience.md": text})
    back = Lesson.objects.get()
    assert back.uuid == lesson.uuid
    assert (back.context, back.takeaway, back.op) == (lesson.context, lesson.takeaway, "matmul")
    assert back.avoid


def test_another_installations_round_is_not_one_of_ours(elsewhere):
    text = json.dumps(
        {"format": "kopt-experience-1",
         "experience": [{"label": "tie", "strategy": "x", "campaign": 4, "round": 2}]}
    )  # fmt: skip
    brought({"a.json": text})
    entry = Experience.objects.get()
    assert (entry.campaign, entry.external) == (None, "campaign 4 round 2")
