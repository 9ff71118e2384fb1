"""A comparison ends at a look where more pairs would hardly change what is concluded."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract.intervals import may_end
from campaigns.evaluator.contract.looks import is_absent

LEVEL, FLOOR = 0.0208, 0.01
# Ratios that scatter by some tenths of a percent around 1.
STRAY = (0.998, 1.001, 1.0, 1.002, 0.999, 1.0)


def pairs(gain: float, scatter: float = 1.0) -> list[tuple[float, float]]:
    return [(10.0 * (1 + gain) * (1 + scatter * (each - 1)), 10.0) for each in STRAY]


@pytest.mark.parametrize(
    ("cases", "ends"),
    [
        pytest.param({"a": pairs(0.1)}, True, id="a clear gain"),
        pytest.param({"a": pairs(0.011)}, False, id="a gain too near to the floor"),
        pytest.param({"a": pairs(0.1, scatter=50)}, False, id="a gain that scatters"),
        pytest.param({"a": pairs(0.9, scatter=60)}, False, id="a clear gain of unclear size"),
        pytest.param({"a": pairs(2.5, scatter=60)}, True, id="a gain larger than its interval"),
        pytest.param({"a": pairs(0.0)}, True, id="no gain"),
        pytest.param({"a": pairs(-0.1)}, True, id="a clear loss"),
        pytest.param({"a": pairs(-0.1, scatter=80)}, False, id="a loss that scatters"),
        pytest.param({"a": pairs(0.004)}, True, id="a gain surely below the floor"),
        pytest.param({"a": pairs(0.0, scatter=12)}, False, id="no gain, but it scatters"),
        pytest.param({"a": pairs(0.3), "b": pairs(0.1)}, True, id="gains everywhere"),
        pytest.param({"a": pairs(0.3), "b": pairs(0.0)}, True, id="a gain on one of two"),
        pytest.param({"a": pairs(0.3), "b": pairs(-0.02)}, False, id="one case seems to lose"),
        pytest.param({"a": pairs(-0.3), "b": pairs(0.03)}, False, id="one case seems to gain"),
        pytest.param({"a": [(10.0, 10.0), (-1.0, 10.0), *pairs(0.1)]}, False, id="no time"),
    ],
)
def test_it_ends_where_the_gain_is_clear_or_clearly_absent(cases, ends):
    assert may_end(cases, LEVEL, FLOOR) is ends


def test_a_gain_is_absent_only_where_every_case_and_all_together_say_so():
    assert is_absent({"a": pairs(0.0)}, LEVEL, FLOOR)
    assert is_absent({"a": pairs(-0.1), "b": pairs(0.005)}, LEVEL, FLOOR)
    assert not is_absent({"a": pairs(0.1)}, LEVEL, FLOOR)
    assert not is_absent({"a": pairs(0.004)}, LEVEL, FLOOR)
    assert not is_absent({"a": pairs(-0.3), "b": pairs(0.02)}, LEVEL, FLOOR)
    assert not is_absent({"a": pairs(0.0, scatter=12)}, LEVEL, FLOOR)
    assert not is_absent({"a": [(10.0, 10.0), (-1.0, 10.0), *pairs(0.0)]}, LEVEL, FLOOR)
