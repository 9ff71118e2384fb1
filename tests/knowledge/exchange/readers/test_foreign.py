"""Migration in: JSON records, citation lines and plain documents; nothing is dropped."""

import json

import pytest

from knowledge.exchange.batches import confirm
from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import ImportRefused, WikiFiles
from knowledge.models import Document, Spec
from knowledge.specs.citation import resolve

SHEET = "# X 1\n\nThe part has 4.8 TB/s of memory bandwidth.\nIt draws 700 W.\n"
RECORD = {
    "platform": "X 1",
    "metric": "memory_bandwidth",
    "value": 4.85,
    "unit": "TB/s",
    "evidence_class": "vendor-published",
    "source": "X 1 data sheet <https://example.org/sheet>",
}


def records(*changes):
    return json.dumps([RECORD | change for change in changes], indent=1)


def take(files, **options):
    summary = take_files(files, ImportOptions(**({"origin": "team", "whole": False} | options)))
    return summary, [(t.line, str(t.fate)) for t in summary.told]


def test_it_keeps_a_foreign_document_byte_for_byte(wiki):
    text = "Notes\r\n=====\r\n\r\n## Specs\r\n\r\n- anything: goes — 3 TB/s\r\n"
    summary, told = take({"docs/notes.md": text})
    assert (summary.new_revisions, summary.specs_proposed, told) == (1, 0, [])
    document = Document.objects.get(path="docs/notes.md")
    assert (document.latest.text, document.title) == (text, "Specs")


def test_it_refuses_a_document_of_ours_that_it_cannot_read(wiki):
    with pytest.raises(ImportRefused, match=r"^docs/y.md:L5: specs without a '## Platform'"):
        take({"docs/y.md": "# Y\n\n## Specs\n\n- tdp: 1 W | evidence=documented | kind=vendor\n"
              .replace("kind=vendor", "kind=vendor | source=s")})  # fmt: skip


def test_it_proposes_a_json_record_on_its_own_lines(wiki):
    text = records({})
    summary, told = take({"data/x.json": text})
    assert (summary.specs_proposed, told) == (1, [(2, "resolved")])
    spec = Spec.objects.get(shown="4.85 TB/s")
    assert (spec.state, spec.evidence, spec.source_kind) == ("proposed", "documented", "vendor")
    assert (spec.platform.slug, spec.rank) == ("x-1", "normal")
    assert spec.source_url == "https://example.org/sheet"
    kept = Document.objects.get(path="data/x.json.md").latest
    assert text in kept.text
    assert spec.citation.revision == kept
    assert resolve(spec.citation.line, spec.citation.quote, kept.text) == "ok"
    assert spec.citation.quote == "\n".join(text.splitlines()[1:9])


def test_it_proposes_a_json_record_on_the_lines_that_it_cites(wiki):
    cites = {"value": 4.8, "source": "<gpu-wiki>/docs/sheet.md:L3"}
    _, told = take({"x.json": records(cites), "docs/sheet.md": SHEET})
    assert told == [(2, "resolved")]
    spec = Spec.objects.get(state="proposed")
    assert str(spec.citation) == "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/sheet.md:L3"
    assert spec.citation.quote == SHEET.splitlines()[2]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"platform": "X 2"}, "no platform is named 'X 2'; nearest: x-1; accepted: x-1"),
        ({"unit": "TBps"}, "$[0].value: unknown unit 'TBps'"),
        ({"value": "about 4.8"}, "$[0].value: 'about 4.8' is hedged"),
        ({"source": None}, "$[0]: source is missing"),
        ({"metric": "speed"}, "$[0].metric: unknown metric 'speed'"),
        ({"evidence_class": "rumour"}, "$[0].evidence_class: 'rumour'; accepted"),
        ({"source": "<gpu-wiki>/docs/gone.md:L3"}, "there is no docs/gone.md in the folder"),
        ({"source": "<gpu-wiki>/docs/sheet.md"}, "docs/sheet.md: no line; accepted"),
        ({"source": "<gpu-wiki>/docs/sheet.md:L99"}, "L99 is beyond the end of docs/sheet.md"),
        ({"source": "<gpu-wiki>/docs/sheet.md:L4"}, "4.85 does not stand in L4 of docs/sheet.md"),
    ],
)
def test_it_says_why_a_record_is_not_proposed_and_takes_the_others(wiki, change, why):
    other = {"metric": "tdp", "value": 710, "unit": "W"}
    summary, told = take({"x.json": records(change, other), "docs/sheet.md": SHEET})
    assert sorted(fate for _, fate in told) == ["resolved", "unresolved"]
    unresolved = [t for t in summary.told if t.fate == "unresolved"]
    assert [t.why.startswith(why) for t in unresolved] == [True], unresolved
    assert Spec.objects.get(shown="710 W").state == "proposed"


def test_it_keeps_a_json_file_that_holds_no_records(wiki):
    summary, _ = take({"package.json": '{"name": "x"}', "bad.json": "{"})
    assert {(t.file, str(t.fate)) for t in summary.told} == {
        ("package.json", "unresolved"), ("bad.json", "unresolved"),
    }  # fmt: skip
    assert '{"name": "x"}\n' in Document.objects.get(path="package.json.md").latest.text


def test_it_fences_a_json_file_that_holds_fences(wiki):
    take({"x.json": '{"a": "```"}'})
    text = Document.objects.get(path="x.json.md").latest.text
    assert text == '# Records of x.json\n\n````json\n{"a": "```"}\n````\n'


LIST = """# Values

- memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/x-1.md:L3
- tdp: 700 W <- <gpu-wiki>/docs/x-1.md:L3
- tdp: 700 W <- <gpu-wiki>/docs/gone.md:L1
- l2_size: UNKNOWN (not in the sheet)
- sm_count: 132
plain prose
"""


def test_it_proposes_what_a_citation_list_says(wiki):
    summary, told = take({"values.md": LIST, "docs/x-1.md": SHEET})
    assert sorted(told) == [
        (3, "resolved"), (4, "unresolved"), (5, "unresolved"), (6, "unknown"), (7, "unresolved"),
    ]  # fmt: skip
    spec = Spec.objects.get(state="proposed")
    assert (spec.platform.slug, spec.source_kind) == ("x-1", "tertiary")
    assert str(spec.citation) == "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/x-1.md:L3"
    assert summary.specs_proposed == 1


def test_it_reads_a_list_of_citations_into_the_stored_wiki(wiki):
    line = "- tdp: 700 W <- <gpu-wiki>/docs/hardware/x-1.md:L16\n"
    summary, told = take({"values.md": f"# V\n\n{line}"})
    assert told == [(3, "stands already")]
    assert summary.told[0].why == "approved, preferred"


def test_it_does_not_guess_the_platform_of_a_document(wiki):
    line = "- tdp: 700 W <- <gpu-wiki>/docs/sheet.md:L4\n"
    summary, _ = take({"values.md": f"# V\n\n{line}", "docs/sheet.md": SHEET.replace("X 1", "X")})
    assert "does not say which platform it is about" in summary.told[0].why


def test_it_proposes_nothing_twice(wiki):
    files = {"x.json": records({}), "values.md": LIST, "docs/x-1.md": SHEET}
    take(files)
    specs = Spec.objects.count()
    summary, told = take(files)
    assert (summary.changed, Spec.objects.count()) == (False, specs)
    assert sorted(fate for _, fate in told if fate.startswith("st")) == ["stands already"] * 2


def test_it_does_not_nag_with_what_a_curator_retired(wiki):
    take({"x.json": records({})})
    Spec.objects.filter(shown="4.85 TB/s").update(state="retired")
    summary, told = take({"x.json": records({})})
    assert (summary.changed, told) == (False, [(2, "stands already")])


def test_it_checks_a_folder_with_json_files(wiki, folder):
    (folder / "x.json").write_text(records({}))
    assert [problem.place for problem in check_wiki(folder)] == ["x.json.md"]
    import_wiki(folder)
    assert check_wiki(folder) == []
    (folder / "x.json").write_text(records({"value": 4.86}))
    assert {problem.state for problem in check_wiki(folder)} == {"changed", "not imported"}


HOSTILE = {
    "long source": (
        dict(RECORD, source="x" * 5000),
        "source: 5000 characters; accepted: at most 300",
    ),
    "NUL": (dict(RECORD, source="a\0b"), "NUL"),
    "NUL as a name": ({**RECORD, "\0": 1}, r"$[0].\x00: unknown field; accepted: platform"),
    "half a pair": (dict(RECORD, note="\ud800"), "Unicode"),
    "half a pair as metric": (dict(RECORD, metric="\ud800"), r"unknown metric '\ud800'"),
    "long qualifier": (dict(RECORD, qualifiers={"clock": "x" * 40_000}), "accepted: base, or MHz"),
    "unknown platform": (dict(RECORD, platform="y" * 40_000), "accepted: x-1"),
    "huge": (json.dumps(RECORD).replace("4.85", "1e999999999"), "plain number"),
    "infinite": (json.dumps(RECORD).replace("4.85", "1e400"), "only finite numbers"),
    "NaN": (json.dumps(RECORD).replace("4.85", "NaN"), "NaN is no JSON number; accepted: null"),
    "Infinity": (json.dumps(RECORD).replace("4.85", "-Infinity"), "-Infinity is no JSON number"),
    "twice": (json.dumps(RECORD).replace("{", '{"unit": "W", ', 1), "the name 'unit' stands twice"),
    "deep": (
        json.dumps(RECORD).replace("4.85", "[" * 100 + "]" * 100),
        "nested too deep; accepted",
    ),
    "deeper": (json.dumps(RECORD).replace("4.85", "[" * 10**5 + "]" * 10**5), "at most 64 levels"),
    "no JSON": (
        json.dumps(RECORD).replace("4.85", "4.85 TB"),
        "$[0]: no JSON at line 2: Expecting",
    ),
    "a number": ("7", "a number is not accepted; accepted: an object"),
}


@pytest.mark.django_db
@pytest.mark.storage
@pytest.mark.parametrize(("record", "why"), HOSTILE.values(), ids=HOSTILE)
def test_it_tells_a_hostile_record_by_its_line_and_takes_the_others(wiki, engineer, record, why):
    other = dict(RECORD, metric="tdp", value=710, unit="W")
    bad = record if isinstance(record, str) else json.dumps(record)
    text = f"[\n{bad},\n{json.dumps(other)}\n]\n"
    batch = plan_import(WikiFiles("team", {"x.json": text}, whole=False), engineer)
    batch.refresh_from_db()
    told = {line["fate"]: line for line in batch.plan["told"]}
    assert (told["unresolved"]["file"], told["unresolved"]["line"]) == ("x.json", 2)
    assert why in told["unresolved"]["why"], told["unresolved"]["why"]
    assert len(told["unresolved"]["why"]) < 1000
    confirm(batch, engineer)
    assert [s.shown for s in Spec.objects.filter(state="proposed")] == ["710 W"]


def test_it_names_what_stands_beside_the_records(wiki):
    text = json.dumps({"version": 3, "records": [RECORD]}, indent=1)
    summary, told = take({"x.json": text})
    assert sorted(told) == [(2, "left out"), (4, "resolved")]
    assert summary.specs_proposed == 1


@pytest.mark.parametrize("text", ["", "\n\n", "[", "[1,]", '["a', "[{}"])
def test_it_tells_a_file_that_is_no_json(wiki, text):
    summary, _ = take({"x.json": text})
    assert [str(told.fate) for told in summary.told] == ["unresolved"]
