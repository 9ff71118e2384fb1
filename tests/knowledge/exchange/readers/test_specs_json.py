"""specs.json: written, read back to the same, in parts, and its errors."""

import json
import re
from dataclasses import asdict, replace

import pytest

from knowledge.exchange.readers.exported_specs import (
    ACTIONS,
    ANSWERS,
    FLAG_KINDS,
    STATES,
    EarlierText,
    ExportedSpec,
    ExportedWiki,
    ImportRefused,
    UnreadLine,
    is_kept,
    own_names,
    read_kept,
)
from knowledge.exchange.writers import exported_rows as module
from knowledge.exchange.writers.exported_rows import stated, write_kept
from knowledge.models import Action, FlagAnswer, FlagKind, SpecState
from knowledge.models.document import text_hash
from knowledge.specs.citation import CitationLine
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank, SourceKind, SpecFacts

FACTS = SpecFacts(
    "memory_bandwidth",
    "4.8 TB/s",
    EvidenceClass.DOCUMENTED,
    SourceKind.VENDOR,
    "sheet “A”",
    "https://example.org/x",
    Rank.NORMAL,
    {"clock": "base"},
    "a note",
)
PLACE = CitationLine("memory_bandwidth", "4.8 TB/s", "docs/x.md", 5, 6)
AT = "2026-01-31T12:00:00.123456+00:00"
WAIVER = {"constraint": "range", "reason": "a new part", "by": "cora", "at": AT}
SHA = text_hash("# X\r\n\n")
FLAG = {
    "kind": "lost", "path": "docs/x.md", "revision": SHA, "lines": (3, 4), "quote": "it was",
    "note": "gone", "by": "enzo", "at": AT, "answer": "recited", "answered_by": "cora",
    "answered_at": AT, "why": "found",
}  # fmt: skip
OPEN = (
    FLAG
    | {"lines": ()}
    | dict.fromkeys(("path", "revision", "answer", "answered_by", "answered_at"), "")
)
STEP = {
    "action": "approved", "by": "", "at": AT, "state": "approved", "rank": "normal",
    "before": "", "after": "4.8 TB/s", "why": "imported (x)",
}  # fmt: skip
QUOTE = "it has\n4.8 TB/s"
OLD = ExportedSpec(1, "x-1", FACTS, PLACE, QUOTE, "approved", 0, "", AT, True, SHA, line=18)
NEW = ExportedSpec(
    *(2, "x-1", FACTS, PLACE, QUOTE, "proposed", 1, "enzo", AT, False, ""),
    *((WAIVER,), (FLAG, OPEN), (STEP, STEP), "specs.json", 19),
)
PLATFORM = PlatformFacts("x-1", "X 1", "Maker", "Arch", PlatformKind.GPU, "sm_1", ("X1",))
EARLIER = EarlierText("docs/x.md", SHA, "# X\r\n\n", ("specs.json", 12))
UNREAD = UnreadLine("docs/x.md", 7, "- tdp: 1 W", ("specs.json", 15))
KEPT = ExportedWiki(
    *((OLD, NEW), (EARLIER,), (PLATFORM,), (UNREAD,), (("renamed/1.md", "docs/A.md"),)),
    origins=(("docs/A.md", "team"),),
)


def spec_row(spec):
    cited = spec.citation
    return {
        "id": spec.number, "platform": spec.platform, **stated(spec.facts), "state": spec.state,
        "by": spec.by, "at": spec.at, "replaces": spec.replaces or None, "instead": spec.instead,
        "path": cited.path, "lines": [cited.first_line, cited.last_line], "quote": spec.quote,
        "revision": spec.revision, "waivers": spec.waivers, "flags": spec.flags,
        "history": spec.history,
    }  # fmt: skip


def name_row(path):
    return "names", {"file": "renamed/1.md", "path": path}


ROWS = [
    name_row("docs/A.md"),
    ("documents", {"path": "docs/A.md", "origin": "team"}),
    ("platforms", asdict(PLATFORM)),
    ("earlier", {"path": "docs/x.md", "sha256": SHA, "text": "# X\r\n\n"}),
    ("unread", {"path": "docs/x.md", "line": 7, "quote": "- tdp: 1 W"}),
    ("specs", spec_row(OLD)),
    ("specs", spec_row(NEW)),
]


def test_it_reads_what_it_wrote():
    files = dict(write_kept(ROWS))
    assert list(files) == ["specs.json"]
    assert read_kept(files) == KEPT
    assert is_kept("specs.json", files["specs.json"])
    assert not is_kept("docs/specs.json", files["specs.json"])
    nothing = dict(write_kept([]))
    assert nothing == {"specs.json": '{"kopt_wiki": 2, "part": 1,\n"more": false}\n'}
    assert (read_kept(nothing), read_kept({})) == (ExportedWiki(), ExportedWiki())


def test_it_puts_one_record_on_one_line():
    assert [spec.line for spec in read_kept(dict(write_kept(ROWS))).specs] == [18, 19]


def test_it_goes_on_in_further_files_and_needs_them_all(monkeypatch):
    monkeypatch.setattr(module, "PART_BYTES", 400)
    files = dict(write_kept(ROWS))
    assert list(files) == ["specs.json", *(f"specs-{n}.json" for n in range(2, len(files) + 1))]
    assert len(files) > 2
    assert all(is_kept(path, text) for path, text in files.items())
    found = read_kept(files)
    assert [replace(s, file="", line=0) for s in found.specs] == [
        replace(s, file="", line=0) for s in KEPT.specs
    ]
    assert [replace(e, at=EARLIER.at) for e in found.earlier] == [EARLIER]
    assert (found.platforms, found.names, found.origins) == (
        KEPT.platforms, KEPT.names, KEPT.origins,
    )  # fmt: skip
    for missing in files:
        rest = {path: text for path, text in files.items() if path != missing}
        last = missing == list(files)[-1]
        with pytest.raises(ImportRefused, match="as no part follows" if last else "is missing"):
            read_kept(rest)


def test_it_knows_the_words_of_the_models():
    assert set(STATES) == set(SpecState.values)
    assert set(ACTIONS) == set(Action.values)
    assert set(FLAG_KINDS) == set(FlagKind.values)
    assert set(ANSWERS) == set(FlagAnswer.values)


def test_it_gives_documents_their_own_names_back():
    files = {"renamed/1.md": "A", "docs/a.md": "a", **dict(write_kept(ROWS))}
    assert set(own_names(files)) == {"docs/A.md", "docs/a.md", "specs.json"}
    with pytest.raises(ImportRefused, match=r"^docs/A.md: stands twice"):
        own_names(files | {"docs/A.md": "B"})
    broken = {"specs.json": files["specs.json"][:-3], "renamed/1.md": "A"}
    assert own_names(broken) == broken


def changed(**fields):
    data = json.loads(dict(write_kept(ROWS))["specs.json"])
    data["specs"][0] |= fields
    return json.dumps(data, indent=0)


def with_flag(**fields):
    return changed(flags=[FLAG | fields])


def with_step(**fields):
    return changed(history=[STEP | fields])


def named(path):
    return dict(write_kept([name_row(path)]))["specs.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"specs.json:L1: \$: no JSON at line 1"),
        ('{"kopt_wiki": 1}', r"specs.json:L1: \$.kopt_wiki: accepted: 2"),
        ('{"kopt_wiki": 2,\n"part": 2}', r"specs.json:L2: \$.part: accepted in specs.json: 1"),
        ('{"kopt_wiki": 2,\n"part": 1, "more": true}', r"L2: \$.more: accepted: false, as no"),
        ('{"kopt_wiki": 2,\n"more_of": []}', r"specs.json:L2: \$.more_of: unknown field"),
        ('{"kopt_wiki": 2, "part": 1, "more": false,\n"specs": [{}]}', r"L2: \$.specs\[0\]: plat"),
        (changed(state="believed"), r"\$.specs\[0\].state: 'believed'; accepted: approved, "),
        (changed(lines=[5]), r"\$.specs\[0\].lines: accepted: the first and the last line"),
        (changed(lines=[0, 1]), r"\$.specs\[0\].lines\[0\]: accepted: a whole number from 1"),
        (changed(id=10**4000), r"\$.specs\[0\].id: accepted: a whole number from 1"),
        (changed(id=2), "id 2 stands twice"),
        (changed(replaces=2), "replaces itself"),
        (changed(replaces=1), "replaces itself"),
        (changed(quote=3), r"\$.specs\[0\].quote: accepted: a string"),
        (changed(quote="4.8\0"), r"\$.specs\[0\].quote: it holds a NUL character; accepted"),
        (changed(note="\ud800"), r"\$.specs\[0\].note: it holds half of a surrogate pair"),
        (changed(instead="yes"), r"\$.specs\[0\].instead: accepted: true or false"),
        (changed(by="x" * 151), r"\$.specs\[0\].by: 151 characters; accepted: at most 150"),
        (changed(waivers=[{}]), r"\$.specs\[0\].waivers\[0\]: constraint, reason, by, at missing"),
        (named("../x.md"), r"\$.names\[0\].path: document path '../x.md'"),
        (with_flag(kind="odd"), r"\$.specs\[0\].flags\[0\].kind: 'odd'; accepted: changed, lost"),
        (with_flag(answer="ok"), r"\$.specs\[0\].flags\[0\].answer: 'ok'; accepted: recited"),
        (with_flag(lines=[1]), r"\$.specs\[0\].flags\[0\].lines: accepted: the first and"),
        (with_step(action="won"), r"\$.specs\[0\].history\[0\].action: 'won'; accepted: prop"),
        (with_step(rank="top"), r"\$.specs\[0\].history\[0\].rank: 'top'; accepted: preferred"),
        (with_step(after="x" * 301), r"history\[0\].after: 301 characters; accepted: at most 300"),
    ],
)  # fmt: skip
def test_it_names_line_and_field_of_what_it_does_not_take(text, message):
    with pytest.raises(ImportRefused, match=message):
        read_kept({"specs.json": text})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"shown": "4.8 Watts"}, "unknown unit 'Watts'"),
        ({"metric": "speed"}, "unknown metric 'speed'"),
        ({"path": "../x.md"}, "document path '../x.md'"),
        ({"rank": "best"}, "'best' is not a valid Rank"),
        ({"qualifiers": {"mood": "good"}}, "unknown field 'mood'"),
    ],
)
def test_it_says_which_value_breaks_a_rule_of_today_and_reads_the_others(fields, why):
    found = read_kept({"specs.json": changed(**fields)})
    assert [spec.number for spec in found.specs] == [2]
    (lost,) = found.not_taken
    assert (lost.file, why in lost.why, lost.line > 1) == ("specs.json", True, True), lost


TIMES = ["today", "2026-01-31", "2026-01-31T12:00:00", "0001-01-01T00:00:00+14:00", 5, None,
         "9999-12-31T23:59:59-14:00", "9999-06-01T00:00:00+00:00"]  # fmt: skip


@pytest.mark.parametrize("at", TIMES)
def test_it_takes_no_value_with_a_time_that_cannot_be_told(at):
    for text, where in (
        (changed(at=at), "at"),
        (with_step(at=at), r"history\[0\].at"),
        (with_flag(at=at), r"flags\[0\].at"),
        (with_flag(answered_at=at), r"flags\[0\].answered_at"),
        (changed(waivers=[WAIVER | {"at": at}]), r"waivers\[0\].at"),
    ):
        found = read_kept({"specs.json": text})
        assert [spec.number for spec in found.specs] == [2]
        (lost,) = found.not_taken
        assert re.match(rf"\$.specs\[0\].{where}: '.*'; accepted: a time such as", lost.why)
        assert lost.instead == ("docs/x.md", 5, QUOTE)
