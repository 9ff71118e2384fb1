"""Documents read into facts, and every slip is an error with its line."""

import pytest

from knowledge.specs.cited import Evidence
from knowledge.specs.facts import (
    PlatformFacts,
    PlatformKind,
    Rank,
    SourceKind,
    SpecFacts,
    cpu_platform,
)
from knowledge.specs.reader import ReaderError, read_page

PLATFORM = PlatformFacts(
    "x-1", "X 1", "Maker", "Arch", PlatformKind.GPU, "sm_1", ("Maker X 1", "X1")
)
BANDWIDTH = SpecFacts(
    "memory_bandwidth",
    "4.8 TB/s",
    Evidence.DOCUMENTED,
    SourceKind.VENDOR,
    "data sheet, table 1",
    "https://example.org/x.pdf",
    Rank.PREFERRED,
    note="at the highest clock",
)


def page(*lines, platform=PLATFORM):
    head = f"# X 1\n\nWords.\n\n## Platform\n\n{platform}\n\n## Specs\n\n"
    return head + "\n".join(str(line) for line in lines) + "\n\n## Notes\n\n- free: text\n"


def test_it_reads_back_what_it_writes():
    text = page(BANDWIDTH, "### More", "", "prose between")
    read = read_page("docs/x.md", text)
    assert (read.title, read.platform_slug, read.platform) == ("X 1", "x-1", PLATFORM)
    assert [spec.facts for spec in read.specs] == [BANDWIDTH]
    line = read.specs[0]
    assert text.split("\n")[line.line - 1] == line.quote == str(BANDWIDTH)
    assert str(line.citation("docs/x.md")) == (
        f"memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/x.md:L{line.line}"
    )


def test_it_keeps_the_value_in_the_canonical_unit():
    assert (BANDWIDTH.value, BANDWIDTH.unit) == (4.8e12, "B/s")


def test_it_keeps_conflicting_values_as_several_lines():
    rival = "- memory_bandwidth: 5 TB/s | evidence=documented | kind=tertiary | source=list"
    assert [s.facts.rank for s in read_page("x.md", page(BANDWIDTH, rival)).specs] == [
        Rank.PREFERRED,
        Rank.NORMAL,
    ]


def test_it_reads_unknown_with_how_to_obtain_it_and_none():
    unknown = "- tdp: UNKNOWN | evidence=documented | kind=vendor | source=none found | how=ask"
    absent = "- pcie: NONE | evidence=documented | kind=vendor | rank=preferred | source=sheet"
    facts = [spec.facts for spec in read_page("x.md", page(unknown, absent)).specs]
    assert [(f.known, f.value, f.note) for f in facts] == [(False, None, "ask"), (False, None, "")]
    assert str(facts[0]).endswith("| how=ask")


def test_it_takes_names_for_text_metrics_and_qualifiers():
    memory = "- memory_type: HBM3e | evidence=documented | kind=vendor | rank=preferred | source=s"
    fma = (
        "- fma_throughput: 1.2 TFLOPS | dtype=float32 | evidence=measured | kind=measured"
        " | rank=preferred | source=this device"
    )
    facts = [spec.facts for spec in read_page("x.md", page(memory, fma)).specs]
    assert (facts[0].value, facts[0].unit, facts[0].shown) == (None, "text", "HBM3e")
    assert facts[1].question == ("fma_throughput", (("dtype", "float32"),))


def test_it_may_speak_of_a_platform_that_another_document_introduces():
    read = read_page("x.md", page(BANDWIDTH, platform="- platform: x-1"))
    assert (read.platform_slug, read.platform) == ("x-1", None)


GOOD = str(BANDWIDTH)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([GOOD.replace("memory_bandwidth", "memory_bandwith")], "accepted: memory_bandwidth"),
        ([GOOD.replace("TB/s", "TB")], "memory_bandwidth is kept in B/s, not in '4.8 TB'"),
        ([GOOD.replace("TB/s", "tb/s")], "unknown unit 'tb/s'; accepted: B"),
        ([GOOD.replace("4.8", "~4.8")], "'~4.8' is not a plain number"),
        ([GOOD.replace("=vendor", "=rumour")], "kind='rumour'; accepted: vendor, vendor-docs"),
        ([GOOD.replace("evidence=documented | ", "")], "evidence=''; accepted: documented"),
        ([GOOD.replace("rank=preferred", "rank=best")], "rank='best'; accepted: preferred"),
        ([GOOD.split(" | source=")[0]], "no source; accepted: source=title <https://address>"),
        ([GOOD.replace("rank=", "dtpe=f | rank=")], "unknown field 'dtpe'; accepted: dtype"),
        ([GOOD.replace("rank=", "dtype=f 32 | rank=")], "dtype='f 32': one word"),
        (
            [GOOD.replace("rank=", "kind=vendor | rank=")],
            "'kind=vendor' does not read as key=value",
        ),
        ([GOOD.replace(" | note=", " | nothing")], "'nothingat the highest clock'"),
        (["- not a fact"], "does not read as '- metric: value unit"),
        ([GOOD, GOOD.replace("4.8", "4.9")], "2 values are rank=preferred; exactly one"),
        (
            [GOOD, *[GOOD.replace("preferred", "normal")] * 2],
            "the same line stands twice",
        ),
        (
            [GOOD, GOOD.replace("preferred | ", "deprecated | ").split(" | note")[0]],
            "rank=deprecated needs note=, the reason",
        ),
        (
            [
                GOOD,
                "- memory_bandwidth: UNKNOWN | evidence=derived | kind=vendor | source=x | how=y",
            ],
            "UNKNOWN stands beside another answer",
        ),
        (
            ["- tdp: UNKNOWN | evidence=documented | kind=vendor | source=none"],
            "UNKNOWN needs how=",
        ),
    ],
)
def test_it_names_the_line_that_it_can_not_read(lines, message):
    text = page(*lines)
    with pytest.raises(ReaderError) as refused:
        read_page("docs/x.md", text)
    number = text[: text.index("\n\n## Notes")].count("\n") + 1
    assert str(refused.value).startswith(f"docs/x.md:L{number}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no title\n", "x.md:L1: no title"),
        (f"# T\n\n## Specs\n\n{GOOD}\n", "x.md:L5: specs without a '## Platform' section"),
        ("# T\n\n## Platform\n- platform: x\n- name: X\n", "x.md:L4: the platform lacks vendor"),
        ("# T\n\n## Platform\n- color: red\n", "x.md:L4: '- color: red'; accepted once each"),
        (page(platform=str(PLATFORM).replace("gpu", "tpu")), "'tpu' is not a valid PlatformKind"),
        (page(platform=str(PLATFORM).replace("x-1", "X_1")), "platform 'X_1': accepted are a-z"),
    ],
)
def test_it_refuses_a_page_without_its_frame(text, message):
    with pytest.raises(ReaderError) as refused:
        read_page("x.md", text)
    assert message in str(refused.value)


def test_it_names_this_cpu_by_its_model():
    cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU @ 2.0GHz\n\n"
    facts = cpu_platform(cpuinfo, "x86_64")
    assert (facts.name, facts.vendor, facts.target) == (
        "Some CPU @ 2.0GHz",
        "GenuineIntel",
        "native",
    )
    assert facts.kind is PlatformKind.CPU
    assert facts == cpu_platform(cpuinfo * 2, "x86_64")
    other = cpu_platform(cpuinfo.replace("Some", "Another"), "x86_64")
    assert facts.slug.startswith("cpu-")
    assert facts.slug != other.slug


def test_it_names_a_cpu_whose_kernel_gives_no_model_name():
    facts = cpu_platform("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "aarch64")
    assert (facts.name, facts.vendor) == ("aarch64 CPU part 0xd40", "0x41")
