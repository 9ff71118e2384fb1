"""specs.json: written, read back to the same, and its errors."""

import json

import pytest

from knowledge.specs.citation import CitationLine
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank, SourceKind, SpecFacts
from knowledge.specs.kept import (
    EarlierText,
    Kept,
    KeptError,
    KeptSpec,
    KeptWaiver,
    is_kept,
    read_kept,
    write_kept,
)

FACTS = SpecFacts(
    "memory_bandwidth",
    "4.8 TB/s",
    Evidence.DOCUMENTED,
    SourceKind.VENDOR,
    "sheet “A”",
    "https://example.org/x",
    Rank.NORMAL,
    {"clock": "boost"},
    "a note",
)
PLACE = CitationLine("memory_bandwidth", "4.8 TB/s", "docs/x.md", 5, 6)
WAIVER = KeptWaiver("range", "a new part", "cora")
SPEC = KeptSpec("x-1", FACTS, PLACE, "it has\n4.8 TB/s", "approved", True, "ab" * 32, (WAIVER,), 9)
PLATFORM = PlatformFacts("x-1", "X 1", "Maker", "Arch", PlatformKind.GPU, "sm_1", ("X1",))
KEPT = Kept((SPEC,), (EarlierText("docs/x.md", "ab" * 32, "# X\r\n\n"),), (PLATFORM,))


def test_it_reads_what_it_wrote():
    text = write_kept(KEPT)
    assert read_kept(text) == KEPT
    assert is_kept("specs.json", text)
    assert not is_kept("docs/specs.json", text)
    assert read_kept(write_kept(Kept())) == Kept()


def test_it_puts_one_record_on_one_line():
    two = Kept((SPEC, SPEC))
    assert [spec.line for spec in read_kept(write_kept(two)).specs] == [5, 6]


def changed(**fields):
    data = json.loads(write_kept(KEPT))
    data["specs"][0] |= fields
    return json.dumps(data, indent=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"specs.json:L1: \$: no JSON at line 1"),
        ('{"kopt_wiki": 2}', r"specs.json:L1: \$.kopt_wiki: accepted: 1"),
        ('{"kopt_wiki": 1,\n"more": []}', r"specs.json:L2: \$.more: unknown field"),
        ('{"kopt_wiki": 1,\n"specs": [\n{}]}', r"specs.json:L3: \$.specs\[0\]: platform, "),
        (changed(shown="4.8 Watts"), r"specs.json:L\d+: \$.specs\[0\]: unknown unit 'Watts'"),
        (changed(state="believed"), r"\$.specs\[0\].state: 'believed'; accepted: approved, "),
        (changed(lines=[5]), r"\$.specs\[0\].lines: accepted: the first and the last line"),
        (changed(lines=[0, 1]), r"\$.specs\[0\]: lines L0-L1"),
        (changed(path="../x.md"), r"\$.specs\[0\]: document path '../x.md'"),
        (changed(quote=3), r"\$.specs\[0\].quote: accepted: a string"),
        (changed(instead="yes"), r"\$.specs\[0\].instead: accepted: true or false"),
        (changed(rank="best"), r"\$.specs\[0\]: 'best' is not a valid Rank"),
        (changed(waivers=[{}]), r"\$.specs\[0\].waivers\[0\]: constraint, reason, by missing"),
    ],
)  # fmt: skip
def test_it_names_line_and_field_of_what_it_does_not_take(text, message):
    with pytest.raises(KeptError, match=message):
        read_kept(text)
