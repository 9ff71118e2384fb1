"""Documents read into facts, and every slip is an error with its line."""

from dataclasses import replace

import pytest

from knowledge.models import Platform, Spec
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import (
    MOST,
    MOST_OF_PLATFORM,
    FactsError,
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
    EvidenceClass.DOCUMENTED,
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
    absent = "- pcie: NONE | evidence=documented | kind=vendor | source=sheet | note=it prints NA"
    facts = [spec.facts for spec in read_page("x.md", page(unknown, absent)).specs]
    assert [(f.known, f.value) for f in facts] == [(False, None)] * 2
    assert [f.note for f in facts] == ["ask", "it prints NA"]
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
        ([GOOD.replace("rank=", "dtype=float32 | rank=")], "memory_bandwidth takes no dtype; acc"),
        ([GOOD.replace("rank=", "per=xcd | rank=")], "per='xcd'; accepted: GCD, XCD"),
        ([GOOD.replace("4.8", "-4.8")], "'-4.8 TB/s' is negative; accepted: no sign"),
        ([GOOD.replace("4.8", "0.0")], "accepted: a number above 0, or NONE where the source says"),
        ([GOOD.replace("4.8", "1e-400")], "'1e-400' is too small to store"),
        ([GOOD.replace("4.8", "1e300")], "only finite numbers are accepted"),
        ([GOOD.replace("4.8", "4." + "8" * 80)], "value: 87 characters; accepted: at most 80"),
        ([GOOD.replace("data", "d" * 300)], "source: 315 characters; accepted: at most 300"),
        ([GOOD.replace("x.pdf", "x" * 500)], "source_url: 520 characters; accepted: at most 500"),
        ([GOOD.replace("example.org", "[x")], "is no valid URL; accepted: http:// or https://"),
        ([GOOD.replace("highest", "high\0est")], "note: it holds a NUL character"),
        ([GOOD.replace("highest", "high\ud800est")], "note: it is not Unicode text"),
        (
            [GOOD.replace("memory_bandwidth: 4.8 TB/s", "memory_type: likely HBM4")],
            "memory_type: 'likely' makes it a guess; accepted: a plain value",
        ),
        (
            [GOOD.replace("4.8 TB/s", "NONE").split(" | note")[0]],
            "NONE needs note=, how the source says that there is none",
        ),
        (
            [GOOD.replace("rank=", "kind=vendor | rank=")],
            "'kind=vendor' does not read as key=value",
        ),
        ([GOOD.replace(" | note=", " | nothing")], "'nothingat the highest clock'"),
        (["- not a fact"], "does not read as '- metric: value unit"),
        ([GOOD, GOOD.replace("4.8", "4.9")], "2 values are rank=preferred; exactly one"),
        ([GOOD, *[GOOD.replace("preferred", "normal")] * 2], "the same line stands twice"),
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


@pytest.mark.parametrize(("model", "most"), [(Spec, MOST), (Platform, MOST_OF_PLATFORM)])
def test_it_takes_no_longer_texts_than_the_columns_do(model, most):
    """A registered word or a number of the columns that are not said is short by itself."""
    columns = {c.name: c.max_length for c in model._meta.concrete_fields if c.max_length}
    words = {"metric", "unit", "evidence", "source_kind", "rank", "state"}
    assert {name: length for name, length in columns.items() if name not in words} == dict(most)


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("name", "X" * 201, "name: 201 characters; accepted: at most 200"),
        ("slug", "x" * 81, "slug: 81 characters; accepted: at most 80"),
        ("target", "sm\0", "target: it holds a NUL character"),
        ("vendor", "\udc00", "vendor: it is not Unicode text"),
        ("aliases", ("X\0",), "aliases: it holds a NUL character"),
    ],
)
def test_it_refuses_a_platform_that_one_database_would_not_store(field, text, words):
    with pytest.raises(FactsError) as refused:
        replace(PLATFORM, **{field: text})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "ftp://example.org/x", "http://", "https:///x", "//example.org"),
        *("https://exa mple.org", "https://example.org/<x>", "https://u:p@example.org", "x.org"),
        *("https://example.org:port/", "https://-x.org"),
    ],
)
def test_it_refuses_what_is_no_address_of_a_page(address):
    with pytest.raises(FactsError, match="accepted: http:// or https:// and a host") as refused:
        replace(BANDWIDTH, source_url=address)
    assert refused.value.field == "source_url"


@pytest.mark.parametrize(
    "address",
    [
        *("https://example.org", "HTTP://Example.org:8080/a?b=(c)#d", "http://wiki/a"),
        *("http://localhost:8000/", "https://10.0.0.1/x", "https://de.wikipedia.org/wiki/Größe"),
    ],
)
def test_it_takes_the_address_of_a_page(address):
    assert replace(BANDWIDTH, source_url=address).source_url == address
