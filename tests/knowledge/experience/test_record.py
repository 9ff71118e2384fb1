"""Attempts are stored once, with the record of their context and with their words (R37)."""

import pytest
from django.db import IntegrityError, connection, transaction

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models import Experience, ExperienceOrigin, SearchRow, SearchWord, TrackRecord

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


def attempt(label: AttemptLabel, gain: float | None, **more: object) -> NewExperience:
    fields: dict[str, object] = {
        "strategy": "tune.BLOCK",
        "label": label,
        "origin": ExperienceOrigin.IMPORTED,
        "op": "matmul",
        "backend": "triton",
        "platform": "a6000",
        "arch": "sm_86",
        "bottleneck": Bottleneck.COMPUTE,
        "shapes": [{"M": 1024, "N": 1024, "K": 1024}],
        "gain": gain,
    }
    return NewExperience(**(fields | more))  # type: ignore[arg-type]


def test_attempts_of_one_context_share_a_record():
    gains = [0.10, 0.02, -0.05]
    labels = [AttemptLabel.SUCCESS, AttemptLabel.SMALL, AttemptLabel.REGRESSION]
    record_attempts(attempt(label, gain) for label, gain in zip(labels, gains, strict=True))
    track = TrackRecord.objects.get()
    assert (track.tried, track.worked, track.regressions) == (3, 2, 1)
    assert (track.gain_median, track.gain_low, track.gain_high) == (0.02, -0.05, 0.10)
    assert (track.family, track.vendor, track.shape_class) == ("matmul", "NVIDIA", "2^28–2^32")


def test_a_round_is_recorded_once():
    one = attempt(AttemptLabel.TIE, 0.0, campaign=3, round=2)
    assert len(record_attempts([one])) == 1
    assert record_attempts([one]) == []


def test_the_words_of_an_attempt_are_counted_and_found():
    record_attempts([attempt(AttemptLabel.TIE, 0.0, notes="spills into local memory")])
    assert SearchWord.objects.get(word="spills").rows == 1
    row = SearchRow.objects.get(kind="entry")
    assert "op=matmul" in row.words.split()
    fts = "knowledge_searchrow_fts"
    where = {
        "sqlite": f"id IN (SELECT rowid FROM {fts} WHERE {fts} MATCH %s)",
        "postgresql": "lexemes @@ %s::tsquery",
    }[connection.vendor]
    found = SearchRow.objects.extra(where=[where], params=["spills"])
    assert list(found) == [row]


def test_the_facts_of_an_attempt_are_never_rewritten():
    (made,) = record_attempts([attempt(AttemptLabel.TIE, 0.0)])
    with pytest.raises(IntegrityError), transaction.atomic():
        Experience.objects.filter(pk=made.pk).update(gain=0.5)
    Experience.objects.filter(pk=made.pk).update(standing="masked")
