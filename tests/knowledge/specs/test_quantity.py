"""Units: a closed list, decimal and binary apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.specs.quantity import ACCEPTED, Quantity, QuantityError, canonical_unit, other_unit


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("4.8 TB/s", 4.8e12, "B/s"),
        ("3.35 TiB/s", 3.35 * 1024**4, "B/s"),
        ("50 MB", 50e6, "B"),
        ("50 MiB", 50 * 1024**2, "B"),
        ("227 KiB", 232448, "B"),
        ("989.4 TFLOPS", 989.4e12, "op/s"),
        ("1979 TOPS", 1979e12, "op/s"),
        ("1.83 GHz", 1.83e9, "Hz"),
        ("5.2 Gbit/s", 5.2e9, "bit/s"),
        ("2048 op/clk", 2048, "op/clk"),
        ("700 W", 700, "W"),
        ("132 SM", 132, "count"),
        ("132", 132, "count"),
    ],
)
def test_it_reads_a_value_into_its_canonical_unit(text, value, unit):
    assert Quantity.parse(text).canonical() == Quantity(value, unit)


def test_it_never_takes_gigabytes_for_gibibytes():
    assert Quantity.parse("1 GiB").to("MB") == Quantity(1073.741824, "MB")
    assert Quantity.parse("1 GB").to("MB") == Quantity(1000, "MB")


@pytest.mark.parametrize("unit", [unit for group in ACCEPTED.values() for unit in group])
def test_it_writes_every_accepted_unit_so_that_it_reads_back(unit):
    assert Quantity.parse(str(Quantity(4.8, unit))) == Quantity(4.8, unit)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["TB/s", "MiB", "MHz"]))
def test_it_writes_any_number_so_that_it_reads_back(value, unit):
    assert Quantity.parse(str(Quantity(value, unit))) == Quantity(value, unit)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("4.8 KB", "kB (1000) or KiB (1024)"),
        ("4.8 GHZ", "accepted: B, kB"),
        ("5 Gb", "unknown unit 'Gb'"),
        ("~5 GB", "'~5' is not a plain number"),
        ("about 5 GB", "'about' is not a plain number"),
        ("3,350 GB/s", "'3,350' is not a plain number"),
        ("9**9 B", "'9**9' is not a plain number"),
        ("nan B", "'nan' is not a plain number"),
        ("1e999 B", "only finite numbers"),
        ("1e-400 TB/s", "'1e-400' is too small to store"),
        ("-1e-400 TB/s", "'-1e-400' is too small to store"),
    ],
)
def test_it_refuses_what_it_can_not_be_sure_of_and_names_what_it_takes(text, named):
    with pytest.raises(QuantityError) as refused:
        Quantity.parse(text)
    assert named in str(refused.value)


def test_it_refuses_to_convert_bytes_per_second_into_operations():
    with pytest.raises(QuantityError, match="B/s does not convert to op/s; accepted: B/s, kB/s"):
        Quantity.parse("4.8 B/s").to("op/s")


def test_it_knows_the_canonical_unit_of_each_spelling():
    assert {canonical_unit(unit) for group in ACCEPTED.values() for unit in group} == set(ACCEPTED)


def test_it_refuses_what_overflows_in_the_canonical_unit():
    with pytest.raises(QuantityError, match="only finite numbers"):
        Quantity.parse("1e300 TB/s").canonical()


@pytest.mark.parametrize("zero", ["0", "0.00", "0e5", "-0"])
def test_it_reads_a_zero_that_is_written_as_one(zero):
    assert Quantity.parse(f"{zero} B").value == 0


@pytest.mark.parametrize(
    ("quote", "shown", "other"),
    [
        ("4.8 TB/s", "4.8 TiB/s", "TB/s"),
        ("4.8 Tbps", "4.8 TB/s", "Tbps"),
        ("4.8Tb/s", "4.8 TB/s", None),  # the number is not found there at all
        ("4.8 Tb/s", "4.8 TB/s", "Tb/s"),
        ("4.8 tbps", "4.8 TB/s", "tbps"),
        ("4.8 GT/s", "4.8 GB/s", "GT/s"),
        ("4.8 TBps", "4.8 TB/s", None),
        ("4.8 Gbps", "4.8 Gbit/s", None),
        ("4.8 GBps", "4.8 Gbit/s", "GBps"),
        ("4.8 Tbps, that is 4.8 TB/s", "4.8 TB/s", None),
        ("| 4.8 | Tbps |", "4.8 TB/s", None),
        ("4.8 steps", "4.8 TB/s", None),
        ("132 core", "132 SM", None),
    ],
)
def test_it_names_the_unit_of_the_quote_where_it_is_another(quote, shown, other):
    assert other_unit(quote, shown) == other
