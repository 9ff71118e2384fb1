"""A wrong call on a GPU is made again with nothing near it, to say what is wrong."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.evaluator.judge.correctness import case_check
from campaigns.evaluator.judge.correctness.case_check import UNORDERED, CaseCheck
from campaigns.evaluator.judge.correctness.output_comparison import OutputComparison
from campaigns.evaluator.judge.correctness.trial import Trial
from campaigns.evaluator.wire import Ask

RIGHT = OutputComparison(True, 0, 0, 0)
WRONG = OutputComparison(False, 1, 1, 9, "all elements wrong")
NUMBER = 4


@pytest.fixture
def judged(monkeypatch):
    """Judge a call by these comparisons in turn on such a device: its message, what was asked."""

    def judge(device, *found):
        asked, looks = [], iter(found)
        monkeypatch.setattr(case_check, "look_at", lambda *_: next(looks))
        monkeypatch.setattr(case_check, "let_settle", lambda *_: None)
        monkeypatch.setattr(case_check, "fill", lambda *_: asked.append("filled"))
        context = SimpleNamespace(
            device=SimpleNamespace(type=device), wait=lambda: None, limit_s=1.0
        )
        channel = SimpleNamespace(
            ask=lambda ask, body, limit_s: asked.append((ask, body)),
            freeze=lambda: asked.append("stopped"),
        )
        call = SimpleNamespace(
            number=NUMBER,
            slots=None,
            truth=None,
            trial=Trial({}, " (hidden sizes)", want={"y": None}),
            poison=SimpleNamespace(left_in=lambda *_: False),
        )
        check = CaseCheck(channel, context, None)
        check._is_right(call)
        return check._message, asked

    return judge


def test_it_says_that_a_call_is_right_only_where_nothing_is_near_it(judged):
    message, asked = judged("cuda", WRONG, WRONG, RIGHT)
    assert message == UNORDERED + " (hidden sizes)"
    assert asked == ["filled", (Ask.CALL_APART, NUMBER), "stopped"]


def test_a_call_that_stays_wrong_is_just_wrong(judged):
    message, _ = judged("cuda", WRONG, WRONG, WRONG)
    assert message == "all elements wrong (hidden sizes)"


def test_on_a_cpu_no_call_is_made_again(judged):
    message, asked = judged("cpu", WRONG, WRONG)
    assert message == "all elements wrong (hidden sizes)"
    assert not asked
