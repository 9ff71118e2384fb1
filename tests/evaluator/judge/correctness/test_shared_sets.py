"""The unusual inputs of a case are made once, and never left out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.problem import CheckSpec
from campaigns.evaluator.judge.correctness import trial as shared_sets
from campaigns.evaluator.judge.correctness.trial import SharedSets

KEPT_BYTES = 1 << 20
CHECK = CheckSpec(sets=("a", "b", "c"))


def context(stride: int = 64, name: str = "one") -> SimpleNamespace:
    return SimpleNamespace(
        case=SimpleNamespace(name=name),
        layout=SimpleNamespace(stride=stride),
        plan=SimpleNamespace(kept=KEPT_BYTES),
        supply=SimpleNamespace(example=dict),
    )


@pytest.fixture
def made(monkeypatch):
    """All sets that were made, in turn; "bad" in it makes the next one fail."""
    found: list[str] = []

    def trials(context, check, inputs):
        for name in check.sets:
            if "bad" in found:
                found.remove("bad")
                raise BadReference("refused")
            found.append(name)
            yield name

    monkeypatch.setattr(shared_sets, "sets_as_trials", trials)
    return found


def test_both_arms_are_asked_the_same_which_is_made_once(made):
    shared = SharedSets(CHECK)
    assert list(shared.of(context())) == list(shared.of(context())) == ["a", "b", "c"]
    assert made == ["a", "b", "c"]


def test_what_was_made_ahead_is_finished_when_it_is_needed(made):
    shared = SharedSets(CHECK)
    shared.prepare(context(), lambda: len(made) == 2)
    assert made == ["a", "b"]
    assert list(shared.of(context())) == ["a", "b", "c"]
    assert made == ["a", "b", "c"]


def test_an_arm_that_stopped_early_leaves_the_rest_to_the_other_one(made):
    shared = SharedSets(CHECK)
    assert next(shared.of(context())) == "a"
    assert list(shared.of(context())) == ["a", "b", "c"]


def test_what_a_reference_refuses_ahead_it_refuses_in_the_check(made):
    shared = SharedSets(CHECK)
    made.append("bad")
    shared.prepare(context(), lambda: False)
    made.append("bad")
    with pytest.raises(BadReference):
        list(shared.of(context()))


def test_what_it_refused_once_is_not_left_out(made):
    shared = SharedSets(CHECK)
    made.append("bad")
    shared.prepare(context(), lambda: False)
    assert list(shared.of(context())) == ["a", "b", "c"]


def test_what_does_not_fit_is_made_for_each_arm(made):
    shared, large = SharedSets(CHECK), context(stride=KEPT_BYTES)
    shared.prepare(large, lambda: False)
    assert made == []
    assert list(shared.of(large)) == list(shared.of(large)) == ["a", "b", "c"]
    assert made == ["a", "b", "c"] * 2


def test_what_is_dropped_is_made_anew(made):
    shared = SharedSets(CHECK)
    list(shared.of(context()))
    shared.drop("one")
    assert list(shared.of(context())) == ["a", "b", "c"]
    assert made == ["a", "b", "c"] * 2
