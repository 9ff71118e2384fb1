"""The time left: a range with its basis."""

from __future__ import annotations

import pytest

from campaigns.reports.progress import Progress, estimate, spoken


def test_it_says_nothing_under_three_rounds():
    assert estimate([10.0, 20.0], 5) is None


def test_it_looks_at_the_last_five_rounds_and_spares_the_extremes():
    eta = estimate([9999.0, 10.0, 12.0, 14.0, 16.0, 900.0], 10)
    assert (eta.low_s, eta.high_s, eta.rounds) == (120.0, 160.0, 5)
    assert eta.words == "about 2 min to 3 min left"


def test_a_phase_that_lasts_is_not_too_early_to_tell():
    def words(state, earlier):
        return Progress(state, None, 900.0, "a worker", None, earlier).eta_words

    assert words("validate", 2) == "too early to say (2 of 3 such phases done)"
    assert words("validate", 5) == "not known: it has taken longer than the last such phases"
    assert words("awaiting", 5) == "it depends on people"


def test_it_names_one_number_where_both_ends_read_the_same():
    assert estimate([60.0, 60.0, 60.0], 3).words == "about 3 min left"
    assert estimate([60.0, 60.0, 60.0], 0).words == "a moment left"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.25, "0.2 s"), (4, "4 s"), (38, "40 s"), (100, "2 min"), (4200, "1 h 10"), (7199, "2 h 00")],
)
def test_it_speaks_as_people_do(seconds, words):
    assert spoken(seconds) == words
