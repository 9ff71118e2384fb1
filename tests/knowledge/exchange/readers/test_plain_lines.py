"""Citation lines in plain Markdown resolve, or say why not; none of them is dropped."""

import pytest

from knowledge.exchange.readers.foreign import CitedValue, LineFate
from knowledge.exchange.readers.plain_lines import read_citations
from knowledge.lookup.platform_names import PlatformNames
from knowledge.specs.citation import CitationState, resolve
from tests.knowledge.effort import no_hang

H200 = "docs/hardware/h200.md"
DOCUMENTS = {
    H200: "# H200\r\n\r\n| bandwidth | 4.8 TB/s |\r\nroughly 700 W\r\nHBM3e, 132 SMs\r\n",
    "docs/b.md": "65,536 registers\n",
}
PLACE = f"<gpu-wiki>/{H200}"


NAMES = PlatformNames({}, dict.fromkeys(DOCUMENTS, "h200"))


def read(text):
    return list(read_citations("specs.md", text, NAMES, DOCUMENTS))


def one(line):
    (found,) = read(f"{line}\n")
    assert isinstance(found, CitedValue) or found.text == line
    return found


@pytest.mark.parametrize(
    ("line", "metric", "shown", "locator"),
    [
        (f"memory_bandwidth: 4.8 TB/s <- {PLACE}:L3", "memory_bandwidth", "4.8 TB/s", "L3"),
        (f"- memory_bandwidth: 4.8 TB/s <- {PLACE}:L3.", "memory_bandwidth", "4.8 TB/s", "L3"),
        (f"* **memory bandwidth**: 4.8 TB/s <- {PLACE}:L3", "memory_bandwidth", "4.8 TB/s", "L3"),
        (f"> 1 of these: sm_count: 132 SM <- {PLACE}:L5", None, "", ""),
        (f"| x | `sm_count: 132 SMs <- {PLACE}:L5` |", "sm_count", "132 SM", "L5"),
        (f"| sm_count: 132 <- {PLACE}:L3-L5 | y |", "sm_count", "132", "L3-L5"),
        (f"1. Memory-Type: HBM3e <- {PLACE}:5", "memory_type", "HBM3e", "L5"),
        (
            "registers_per_sm: 65536 registers <- <gpu-wiki>/docs/b.md:L1-1",
            "registers_per_sm",
            "65536 register",
            "L1",
        ),
    ],
)
def test_it_resolves_a_statement_wherever_it_stands(line, metric, shown, locator):
    found = one(line)
    if metric is None:
        assert found.fate is LineFate.UNRESOLVED
        return
    assert (found.facts.metric, found.facts.shown, found.platform) == (metric, shown, "h200")
    assert (found.citation.metric, found.citation.shown) == (metric, shown)
    assert found.citation.locator == locator
    text = DOCUMENTS[found.citation.path]
    assert resolve(found.citation, found.quote, text) is CitationState.OK


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("tdp: 700 W <- <gpu-wiki>/docs/c.md:L1", "there is no docs/c.md in the folder"),
        ("tdp: 700 W <- <gpu-wiki>/../c.md:L1", "document path '../c.md'"),
        ("tdp: 700 W <- <gpu-wiki>/docs/c.pdf:L1", "document path 'docs/c.pdf'"),
        (f"tdp: 700 W <- {PLACE}:L6", f"L6 is beyond the end: {H200} has 5 lines"),
        (f"tdp: 700 W <- {PLACE}:L5-L4", "lines L5-L4: the first must be at least 1"),
        (f"tdp: 700 W <- {PLACE}:L3", f"700 does not stand in L3 of {H200}"),
        (f"memory_type: HBM3 <- {PLACE}:L5", f"HBM3 does not stand in L5 of {H200}"),
        (f"tdp: 700 W <- {PLACE}:L4", "hedged: L4 says 'roughly' of 700 W"),
        (f"tdp: about 700 W <- {PLACE}:L4", "hedged: the value says 'about'"),
        (f"speed: 4.8 TB/s <- {PLACE}:L3", "unknown metric 'speed'"),
        (f"H200 HBM bandwidth: 4.8 TB/s <- {PLACE}:L3", "unknown metric 'h200_hbm_bandwidth'"),
        (f"memory_bandwidth: 4.8 TBps <- {PLACE}:L3", "unknown unit 'TBps'"),
        (f"max_smem_per_sm: 228 KB <- {PLACE}:L3", "unit 'KB' is ambiguous"),
        (f"memory_bandwidth: 4.8 W <- {PLACE}:L3", "4.8 W is no bandwidth"),
        (f"memory_bandwidth: 4,8 TB/s <- {PLACE}:L3", "'4,8' is not a plain number"),
        (f"tdp: 700 W <- {PLACE}", "it names no line"),
        (f"tdp: 700 W <- {PLACE}:Power", "'Power' is no line; accepted after the path: :L23"),
        ("tdp: 700 W <- data sheet", "it does not read as metric: value unit"),
        (f"see {PLACE}:L3", "it does not read as metric: value unit"),
        ("- tdp: 700 W", "the value has no citation"),
        ("speed: UNKNOWN (gpu-wiki not found)", "unknown metric 'speed'"),
    ],
)
def test_it_says_why_a_statement_does_not_resolve(line, reason):
    found = one(line)
    assert found.fate is LineFate.UNRESOLVED
    assert found.why.startswith(reason)


def test_it_reads_a_gap_as_unknown():
    found = one("- tdp: UNKNOWN (gpu-wiki not found)")
    assert (found.fate, found.why) == (LineFate.UNKNOWN, "tdp: gpu-wiki not found")


def test_it_lists_all_statements_of_a_line_and_no_other_text():
    two = f"| sm_count: 132 SM <- {PLACE}:L5 | tdp: 9 W <- {PLACE}:L5 |"
    torn = f"sm_count: 132 SM <- {PLACE}:L5 and tdp <- elsewhere"
    text = f"# Specs\r\n\r\n{two}\r\nwords: none\n{torn}\n"
    assert [(s.line, getattr(s, "fate", "a value")) for s in read(text)] == [
        (3, "a value"),
        (3, LineFate.UNRESOLVED),
        (5, "a value"),
        (5, LineFate.UNRESOLVED),
    ]


def test_it_reads_a_line_of_a_megabyte():
    with no_hang():
        for line in (
            "a" * 1_000_000,
            "a <- UNKNOWN " * 80_000,
            "a: " * 300_000,
            "<gpu-wiki>/" * 90_000,
        ):
            read(line)
