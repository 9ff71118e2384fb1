"""A number does not prove a value in another unit that stands behind it."""

import pytest

from knowledge.specs.beside import other_unit


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
