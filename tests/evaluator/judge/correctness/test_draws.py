"""What is the same in every draw of `setup`."""

from __future__ import annotations

import torch

from campaigns.evaluator.contract.layout import Plain, lay_out
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance
from campaigns.evaluator.judge.correctness.tolerance import Draws

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), False),
        Plain("at", "int32", (4,), False),
        Plain("y", "float32", (4,), True),
    ]
)


def seen(draws: int, x, at, y):
    found = Draws(LAYOUT, {"y": Tolerance(0.01, 0.0)})
    for seed in range(draws):
        given = {"x": torch.full((4,), float(x(seed))), "at": torch.full((4,), at(seed)).int()}
        found.see(given, {"y": torch.full((4,), float(y(seed)), dtype=torch.float64)})
    never = draws > 1 and (y is same or any("answer" in note for note in found.notes()))
    assert found.answer_varies is not never
    return found.notes()


def same(seed: int) -> int:
    return 3


def drawn(seed: int) -> int:
    return seed


def test_what_varies_needs_no_note():
    assert seen(3, drawn, drawn, drawn) == []
    assert seen(3, same, drawn, drawn) == []  # the input sets find a kernel that ignores x


def test_one_draw_shows_nothing():
    assert seen(1, same, same, same) == []


def test_it_names_integers_and_answers_that_never_vary():
    notes = seen(3, drawn, same, lambda seed: 1 + seed / 1000)
    assert notes == [
        "the same in every draw of setup, so that a kernel may have it built in: at",
        "the answer is within its tolerance the same in every draw of setup, so that a kernel may "
        "have it built in: y",
    ]
    assert seen(3, drawn, drawn, lambda seed: 1 + seed / 50) == []


def test_it_says_that_setup_ignores_its_seed():
    [note] = seen(2, same, same, same)
    assert note.startswith("setup gives the same inputs for every seed")
