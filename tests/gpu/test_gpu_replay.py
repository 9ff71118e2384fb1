"""Answers of many rows are replayed where a replay answers as a plain run, and only there."""

from __future__ import annotations

import random

import pytest
import torch

from campaigns.evaluator.problem_code import replay
from campaigns.evaluator.problem_code.replay import LEAST, OFTEN, ReplayedRows
from campaigns.evaluator.reference.messages import Sent

pytestmark = pytest.mark.gpu

ROWS, WIDTH = LEAST, 1000
ARGS = (Sent("x", dtype="float32", shape=(WIDTH,)), Sent("y", dtype="float32", shape=(WIDTH,)))


def softmax(x, y):
    y.copy_(torch.softmax(x, 0))


def in_place(x, y):
    y.add_(x)


def reads_a_result(x, y):
    y.copy_(x * (2 if float(x.sum()) > 0 else 3))


def copies_from_the_host(x, y):
    y.copy_(x * torch.full((WIDTH,), 2.0).to(x.device))


def draws_on_the_host(x, y):
    y.copy_(x * random.random())


def answered(monkeypatch, reference, times):
    """How many graphs were captured, and whether every answer is a plain run's."""
    made = []
    captured = replay._captured
    monkeypatch.setattr(replay, "_captured", lambda *of: made.append(of[2]) or captured(*of))

    def run(given, rows):
        for k in range(rows):
            reference(**{name: value[k] for name, value in given.items()})

    rows, right = ReplayedRows(run), []
    x = torch.empty(ROWS, WIDTH, device="cuda")
    y = torch.empty_like(x)
    for _ in range(times):
        x.normal_()
        y.normal_()
        want = {"x": x.clone(), "y": y.clone()}
        rows.run(ARGS, {"x": x, "y": y}, ROWS)
        run(want, ROWS)
        right.append(torch.equal(y, want["y"]) and torch.equal(x, want["x"]))
    return made.count(ROWS), all(right)


@pytest.mark.parametrize("reference", [softmax, in_place])
def test_it_replays_what_only_works_on_the_device(monkeypatch, reference):
    assert answered(monkeypatch, reference, 5) == (1, True)


@pytest.mark.parametrize("reference", [reads_a_result, copies_from_the_host])
def test_it_runs_plainly_what_does_more(monkeypatch, reference):
    assert answered(monkeypatch, reference, 5) == (0, True)


def test_it_runs_plainly_what_answers_otherwise_when_it_is_replayed(monkeypatch):
    graphs, _ = answered(monkeypatch, draws_on_the_host, 5)
    assert graphs == 0


def test_it_captures_no_burst_of_a_length_that_comes_once(monkeypatch):
    assert answered(monkeypatch, softmax, OFTEN - 1) == (0, True)
