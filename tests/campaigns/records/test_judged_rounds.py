"""A judged round holds the reports of its sessions, in their order, and never half of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.models import RoundKind, RoundState
from campaigns.models.kinds import EVALUATION_KINDS
from campaigns.records import judged_rounds


@pytest.fixture
def load(monkeypatch):
    """Load a claimed round whose two sessions have these reports."""

    def loaded(*facts):
        first, again = (
            SimpleNamespace(facts=each, traits=EVALUATION_KINDS["decide"]) for each in facts
        )
        floor = SimpleNamespace(value=0.01, words="")
        for name, answer in (
            ("deciding_evaluation", first),
            ("second_session", again),
            ("floor_for", floor),
            ("cases_of", ()),
            ("examined", None),
            ("standard_of_round", judged_rounds.Standard(has_incumbent=True)),
        ):
            monkeypatch.setattr(judged_rounds, name, lambda *_, answer=answer: answer)
        round_ = SimpleNamespace(campaign=None, state=RoundState.CLAIMED, kind=RoundKind.ATTEMPT)
        return judged_rounds.load_judged_round(round_, object()).reports

    return loaded


def test_it_has_both_reports_in_order(load):
    assert load("first", "second") == ("first", "second")


def test_it_refuses_a_second_session_without_a_report(load):
    with pytest.raises(ValueError, match="has no report to judge"):
        load("first", None)
