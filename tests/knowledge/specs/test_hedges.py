"""A hedged value is seen as one, and an honest one is not."""

import pytest

from knowledge.specs.hedges import hedged, hedged_number


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("about 4.8 TB/s", "about"),
        ("~4.8 TB/s", "~"),
        ("≈ 4.8 TB/s", "≈"),
        ("approx. 700 W", "approx."),
        ("Approximately 700 W", "Approximately"),
        ("roughly the H100's", "roughly"),
        ("similar  to H100", "similar  to"),
        ("UP TO 900 GB/s", "UP TO"),
        ("around 132", "around"),
        ("700 +/- 50 W", "+/-"),
        ("700 ± 50 W", "±"),
        ("132 (est.)", "est."),
        ("700 W, typically", "typically"),
    ],
)
def test_it_finds_the_hedge(text, hedge):
    assert hedged(text) == hedge


@pytest.mark.parametrize(
    "text",
    [
        *("HBM3e", "PCIe Gen5 x16", "4.8 TB/s", "-40", "1.5e+12 op/s", "sm_90a", "9.0"),
        *("18 links, both directions", "roundabout 7", "turnaround 3", "a-b", "UNKNOWN", "GB202"),
        *("NVLink 4", "estimate", "case", "2:4", "6,144-bit", "HBM2e (5 stacks)", "calls"),
    ],
)
def test_it_lets_an_honest_value_pass(text):
    assert hedged(text) is None


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("bandwidth is about 4.8 TB/s", "about"),
        ("| bandwidth | ~**4.8** TB/s |", "~"),
        ("approximately (4.8 TB/s)", "approximately"),
        ("up to 4.8 TB/s", None),
        ("about 132 multiprocessors and 4.8 TB/s", None),
        ("about 4.8, exactly 4.8 TB/s", None),
        ("about 14.8 or 4.85", None),
        ("4.8 TB/s or about that", None),
    ],
)
def test_it_finds_a_hedge_only_before_the_number_in_a_source(text, hedge):
    assert hedged_number(text, "4.8") == hedge
