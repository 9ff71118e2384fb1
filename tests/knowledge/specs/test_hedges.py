"""A hedged value is seen as one, and an honest one is not."""

import pytest

from knowledge.exchange.importer import SHIPPED
from knowledge.specs.hedges import hedged, hedged_number
from knowledge.specs.reader import read_page


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
        ("likely HBM4", "likely"),
        ("HBM4 maybe", "maybe"),
        ("less than 700 W", "less than"),
        ("At least 4.8 TB/s", "At least"),
        ("over 4.8 TB/s", "over"),
        ("more than 132", "more than"),
        ("4.8 TB/s or so", "or so"),
        ("4.8+ TB/s", "+"),
        ("132+", "+"),
        ("HBM4 (expected)", "expected"),
        ("preliminary: HBM4", "preliminary"),
        ("rumoured HBM4", "rumoured"),
        ("TBD", "TBD"),
        ("> 132", ">"),
        ("≤700 W", "≤"),
        ("HBM4?", "?"),
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
        *("GDDR6X", "PCIe 5.0 x16", "gfx90a:sramecc+:xnack-", "overclocked", "somewhat"),
    ],
)
def test_it_lets_an_honest_value_pass(text):
    assert hedged(text) is None


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("bandwidth is about 4.8 TB/s", "about"),
        ("\u223c4.8 TB/s", "\u223c"),
        ("\uff5e4.8 TB/s", "\uff5e"),
        ("\u02dc4.8 TB/s", "\u02dc"),
        ("~= 4.8 TB/s", "~="),
        ("ca 4.8 TB/s", "ca"),
        ("c. 4.8 TB/s", "c."),
        ("4.8 TB/s (estimate)", "estimate"),
        ("(estimate) 4.8 TB/s", "estimate"),
        ("an estimated peak of 4.8 TB/s", "estimated peak of"),
        ("4.8 TB/s, our estimate", "our estimate"),
        ("in the order of 4.8 TB/s", "in the order of"),
        ("a ballpark of 4.8 TB/s", "ballpark of"),
        ("4.8 TB/s-ish", "-ish"),
        ("bandwidth 3.9-4.8 TB/s", "3.9-4.8"),
        ("4.8\u20135.2 TB/s", "4.8\u20135.2"),
        ("4.0 TB/s \u2014 4.8 TB/s", "4.0 TB/s \u2014 4.8"),
        ("between 4.0 and **4.8** TB/s", "4.0 and **4.8"),
        ("between 4.8 and 5.2 TB/s", "4.8 and 5.2"),
        ("4.0 to 4.8 TB/s", "4.0 to 4.8"),
        ("ranges from 4.8 to 5.2 TB/s", "4.8 to 5.2"),
        ("NVLink 4 - 4.8 TB/s of 5", "4 - 4.8"),
        ("generation 0 - 4.8 TB/s", None),
        ("bandwidth grows from 3.35 to 4.8 TB/s", None),
        ("3.35 and 4.8 TB/s", None),
        ("4.8 TB/s - 8 stacks", None),
        ("H100-4.8 TB/s", None),
        ("9.6 to 4.8 TB/s", None),
        ("estimated: a week. 4.8 TB/s", None),
        ("bandwidth c.4.8", None),
        ("| bandwidth | ~**4.8** TB/s |", "~"),
        ("approximately (4.8 TB/s)", "approximately"),
        ("likely 4.8 TB/s", "likely"),
        ("maybe 4.8 TB/s", "maybe"),
        ("less than 4.8 TB/s", "less than"),
        ("it has at least 4.8 TB/s", "at least"),
        ("a bandwidth of over 4.8 TB/s", "over"),
        ("stays below 4.8 TB/s", "below"),
        ("more than 4.8 TB/s are free", "more than"),
        ("expected to be 4.8 TB/s", "expected to be"),
        ("estimated at 4.8 TB/s", "estimated at"),
        ("preliminary: 4.8 TB/s", "preliminary"),
        ("(rumoured) 4.8 TB/s", "rumoured"),
        ("| memory | > 4.8 TB/s |", ">"),
        ("bandwidth ≥4.8 TB/s", "≥"),
        ("(see above) 4.8 TB/s", None),
        ("bandwidth ≥ 4.8 TB/s", "≥"),
        ("4.8 TB/s or so", "or so"),
        ("4.8 TB/s or about that", "or about"),
        ("4.8 or so", "or so"),
        ("4.8+ TB/s", "+"),
        ("4.8 TB/s+", "+"),
        ("4.8 TB/s ± 10 %", "±"),
        ("4.8 ± 0.1 TB/s", "±"),
        ("4.8 TB/s (est.)", "est."),
        ("4.8 TB/s, estimated", "estimated"),
        ("| **4.8 TB/s** (preliminary) |", "preliminary"),
        ("4.8 TB/s expected", "expected"),
        ("4.8TB/s (expected)", "expected"),
        ("4.8 terabytes per second or so", "or so"),
        ("is it 4.8 TB/s?", "?"),
        ("4.8 (TBD)", "TBD"),
        ("up to 4.8 TB/s", None),
        ("no more than 4.8 TB/s", None),
        ("at most 4.8 TB/s", None),
        ("about 132 multiprocessors and 4.8 TB/s", None),
        ("about 4.8, exactly 4.8 TB/s", None),
        ("about 14.8 or 4.85", None),
        ("4.8 TB/s, about twice the older part", None),
        ("4.8 TB/s, expected to ship in May", None),
        ("4.8 TB/s over PCIe", None),
        ("runs over NVLink at 4.8 TB/s", None),
        ("4.8 TB/s over 18 links", None),
        ("4.8 TB/s and less than 700 W", None),
        ("4.8 + 4.8 TB/s", None),
        ("<td>4.8 TB/s</td>", None),
        ("> 4.8 TB/s", None),
        ("-> 4.8 TB/s", None),
        ("bandwidth 4.8 TB/s <- <gpu-wiki>/a.md:L3", None),
        ('"expected": 4.8,', None),
    ],
)
def test_it_finds_a_hedge_only_beside_the_number_in_a_source(text, hedge):
    assert hedged_number(text, "4.8 TB/s") == hedge


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("more than 132 SMs are active", "more than"),
        ("over 132 SMs", "over"),
        ("132 SMs or more", "or more"),
        ("132 multiprocessors (estimated)", "estimated"),
        ("work is spread over 132 SMs", None),
        ("900 GB/s over 132 SMs", None),
        ("132 SMs likely idle", None),
        ("132 of approximately 144", None),
    ],
)
def test_it_tells_a_bound_from_a_place(text, hedge):
    assert hedged_number(text, "132 SM") == hedge


def test_it_finds_none_in_the_shipped_documents():
    lines = [
        line
        for file in sorted((SHIPPED / "docs/hardware").glob("*.md"))
        for line in read_page(file.name, file.read_text()).specs
        if line.facts.known
    ]
    assert len(lines) > 800
    assert {line.quote for line in lines if hedged_number(line.quote, line.facts.shown)} == set()
