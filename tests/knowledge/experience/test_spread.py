import pytest

from knowledge.experience.wording import ranks, spread_of


@pytest.mark.parametrize(
    ("gains", "shown"),
    [
        ([], (0, None, None, None)),
        ([0.4, 0.1], (2, 0.1, 0.1, 0.4)),
        ([0.5, -0.2, 0.1], (3, 0.1, -0.2, 0.5)),
    ],
)
def test_few_gains_span_their_whole_range(gains, shown):
    found = spread_of((gain, None, None) for gain in gains)
    assert (found.n, found.median, found.low, found.high) == shown


def test_the_interval_narrows_as_gains_come_in():
    # The order statistics of the binomial's normal approximation: n/2 ± 0.98 √n.
    assert ranks(25) == (12, 7, 17)
    assert ranks(100) == (49, 40, 59)


def test_the_words_claim_no_interval_that_is_not_there():
    assert spread_of([(0.1, None, None)]).words == "1.10× faster, no interval"
    assert spread_of([]).words == "not measured"


def test_one_alone_has_the_interval_that_it_was_judged_by():
    assert spread_of([(3.75, 2.85, 4.42)]).words == "4.75× faster [3.85, 5.42]"
    assert spread_of([(0.011, -0.113, 0.25)]).words == "1.011× as fast [0.887, 1.25]"


def test_a_median_is_one_of_the_values():
    assert spread_of((gain, None, None) for gain in (3.0, 1.0, 2.0, 9.0)).median == 2.0
    assert spread_of([]).median is None
