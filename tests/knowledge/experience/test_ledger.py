"""Predictions are held against what was measured, for each proposer and each strategy."""

import pytest

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.attempts.summary import LedgerRow, ledger
from knowledge.experience.terms import AttemptLabel
from knowledge.models import ExperienceOrigin

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


def attempt(proposer: str, predicted: float | None, gain: float | None, borne: str, **more: object):
    fields: dict[str, object] = {
        "strategy": "tune.BLOCK",
        "label": AttemptLabel.TIE,
        "origin": ExperienceOrigin.IMPORTED,
        "op": "matmul",
        "backend": "triton",
        "proposer": proposer,
        "expected_gain": predicted,
        "gain": gain,
        "borne": borne,
    }
    return NewExperience(**(fields | more))  # type: ignore[arg-type]


def test_r34_it_holds_predictions_against_measurements(django_assert_num_queries):
    record_attempts(
        [
            attempt("search", 0.2, 0.1, "confirmed"),
            attempt("search", 0.4, 0.1, "partly confirmed"),
            attempt("search", 0.4, None, "undecided"),
            attempt("search", 0.4, -0.1, "refuted"),
            attempt("search", None, 0.1, "undecided"),
            attempt("search", 9.0, 9.0, "confirmed", masked=True),
            attempt("agent", 0.1, None, "undecided", strategy="tr.swizzle"),
        ]
    )
    with django_assert_num_queries(1):
        search, agent = ledger()
    assert search == LedgerRow("search", 4, 0.4, 0.1, 0.25, 0.25, 0.25)
    assert search.ratio == pytest.approx(0.25)
    assert (agent.name, agent.n, agent.ratio) == ("agent", 1, None)
    assert [row.name for row in ledger("strategy")] == ["tune.BLOCK", "tr.swizzle"]
