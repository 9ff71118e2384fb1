import pytest

from campaigns.rules.wording import amount, change, digits, duration, share, signed


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
