import copy

import pytest

from campaigns.rules.wording import (
    NamedNumber,
    amount,
    change,
    counted,
    digits,
    duration,
    gain_words,
    share,
    signed,
    time_words,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(34.27, "34.3"), (0.0042, "0.00420"), (1234.5, "1,230"), (9.996, "10.0"), (0, "0")],
)
def test_it_writes_three_figures(value, text):
    assert digits(value) == text


def test_it_writes_times_sizes_and_shares():
    assert [duration(34.27), duration(1250), duration(2e6)] == ["34.3 µs", "1.25 ms", "2.00 s"]
    assert [amount(1.212e6, "B"), amount(12, "op")] == ["1.21 MB", "12.0 op"]
    assert [change(0.052), change(-0.0001), change(-0.02)] == ["+5.2 %", "0.0 %", "-2.0 %"]
    assert [share(0.9), share(0.955)] == ["90 %", "95.5 %"]


def test_it_writes_a_change_with_its_sign() -> None:
    assert [signed(us) for us in (3.9, -0.042, 0.0)] == ["+3.90", "−0.0420", "0"]


@pytest.mark.parametrize(
    ("gain", "told", "time"),
    [
        ((1.75, 1.1, 2.99), "2.75× faster [2.10, 3.99]", "64 % less time"),
        ((-1 / 6, -0.236, -0.0909), "1.20× slower [1.10, 1.31]", "20 % more time"),
        ((0.083, 0.075, 0.091), "1.083× faster [1.075, 1.091]", "7.7 % less time"),
        ((0.002, -0.002, 0.006), "1.002× as fast [0.998, 1.006]", "no change shown"),
        ((0.4, -0.1, 1.1), "1.40× as fast [0.900, 2.10]", "no change shown"),
    ],
)
def test_a_gain_has_one_form(gain, told, time):
    assert (gain_words(*gain), time_words(*gain)) == (told, time)


def test_one_of_a_kind_has_no_s():
    assert [counted(n, "burst") for n in (0, 1, 1200)] == ["0 bursts", "1 burst", "1,200 bursts"]


def test_a_number_keeps_its_name_where_it_is_copied():
    copied = copy.deepcopy(NamedNumber(1.5, "time:7"))
    assert (copied, copied.name) == (1.5, "time:7")
