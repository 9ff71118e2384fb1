"""A plan says what an import would do, and does nothing."""

import json

import pytest

from knowledge.curation.errors import CurationError, Forbidden
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Citation, Document, Flag, Platform, Revision, Spec, SpecChange
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, UNKNOWN_CORES, X1

pytestmark = pytest.mark.django_db

COUNTED = (Document, Revision, Spec, Citation, Flag, SpecChange, Platform)


def counts():
    return [model.objects.count() for model in COUNTED]


def rows(batch):
    return {row["path"]: row for row in batch.plan["documents"]}


@pytest.fixture
def plan(wiki, engineer):
    def make(files, name="team", **options):
        before = counts()
        batch = plan_import(WikiFiles(name, files, **options), engineer)
        assert counts() == before
        assert Batch.objects.get() == batch
        return batch

    return make


def test_it_plans_new_changed_unchanged_and_withdrawn(plan, wiki, page_text):
    files = {
        X1: page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP),
        "docs/new.md": "# New\n\nprose\n",
    }
    batch = plan(files, name="wiki")
    found = rows(batch)
    outcomes = {path: row["outcome"] for path, row in found.items()}
    assert outcomes == {X1: "changed", "docs/new.md": "new", "README.md": "withdrawn"}
    assert found["docs/new.md"]["note"].startswith("no ## Platform section")
    states = {c["text"].split(":")[0]: c["state"] for c in found[X1]["citations"]}
    assert states == {"memory_bandwidth": "changed", "cuda_cores": "lost", "tdp": "moved"}
    moved = next(c for c in found[X1]["citations"] if c["state"] == "moved")
    assert (moved["was"], moved["text"]) == ("L16", f"tdp: 700 W <- <gpu-wiki>/{X1}:L17")
    spec = found[X1]["specs"][0]
    assert (spec["state"], spec["replaces"]) == ("proposed", "4.8 TB/s")
    assert batch.plan["counts"]["flags_raised"] == 2
    assert batch.state == "planned"
    assert batch.files == files


def test_it_plans_nothing_for_the_same_files(plan, wiki):
    files = {X1: (wiki / X1).read_text(), "README.md": (wiki / "README.md").read_text()}
    batch = plan(files)
    assert {row["outcome"] for row in batch.plan["documents"]} == {"unchanged"}
    assert batch.plan["counts"]["new_revisions"] == 0


def test_it_names_every_file_that_is_refused_and_plans_the_others(plan, page_text):
    files = {
        "docs/a.md": page_text(TDP.replace("700 W", "700 Watts")),
        "docs/b c.md": "# B\n",
        "docs/d.md": f"# D\n\n## Platform\n\n- platform: y\n\n## Specs\n\n{TDP}\n",
        "docs/e.md": "# E\n",
    }
    batch = plan(files)
    found = rows(batch)
    assert found["docs/a.md"]["note"].startswith("docs/a.md:L15: unknown unit 'Watts'")
    assert found["docs/b c.md"]["note"].startswith("document path 'docs/b c.md'")
    assert found["docs/d.md"]["note"] == "docs/d.md: unknown platform 'y'; known: x-1"
    assert found["docs/e.md"]["outcome"] == "new"
    assert batch.plan["refused"] == 3


def test_it_warns_of_odd_values(plan, page_text):
    odd = f"- tdp: 700 kW | {SOURCE}".replace("preferred", "normal")
    batch = plan({"docs/odd.md": page_text(odd)})
    (spec,) = rows(batch)["docs/odd.md"]["specs"]
    assert "700 kW is outside of what is plausible for tdp" in spec["warnings"][0]


def test_it_says_what_becomes_of_records_and_citation_lines(plan):
    record = {"platform": "x-1", "metric": "tdp", "value": 710, "unit": "W", "source": "sheet"}
    batch = plan({
        "x.json": json.dumps([record | {"evidence_class": "documented"}, record]),
        "v.md": "# V\n\n- tdp: 1 W <- <gpu-wiki>/docs/gone.md:L1\n",
    })  # fmt: skip
    told = [(t["file"], t["fate"]) for t in batch.plan["told"]]
    assert sorted(told) == [
        ("v.md", "unresolved"), ("x.json", "resolved"), ("x.json", "unresolved"),
    ]  # fmt: skip
    assert rows(batch)["x.json.md"]["specs"][0]["state"] == "proposed"


def test_it_shows_a_platform_that_is_described_anew(plan, page_text):
    text = page_text(BANDWIDTH, TDP, UNKNOWN_CORES).replace("target: sm_1", "target: sm_2")
    batch = plan({X1: text}, name="wiki")
    assert batch.plan["platforms"] == [
        {"slug": "x-1", "change": "target: sm_1 → sm_2", "is_new": False}
    ]


def test_it_lists_no_more_than_a_page_can_show(plan, page_text, monkeypatch):
    rivals = [TDP.replace("700", str(n)).replace("preferred", "normal") for n in range(300, 360)]
    monkeypatch.setattr("knowledge.exchange.plan.CHECKED", 7)
    found = plan({"docs/many.md": page_text(*rivals)}).plan
    (row,) = found["documents"]
    assert found["unchecked"] == 53
    assert (len(row["specs"]), row["specs_more"]) == (50, 10)


def test_it_takes_so_many_values_of_a_person_and_all_of_a_command(wiki, engineer, monkeypatch):
    monkeypatch.setattr("knowledge.exchange.plan.MOST_VALUES", 1)
    files = {"records.json": json.dumps([{"value": 1}, {"value": 2}])}
    with pytest.raises(CurationError, match="files: 2 values; accepted: 1 at a time"):
        plan_import(WikiFiles("team", files, whole=False), engineer)
    assert not Batch.objects.exists()
    assert plan_import(WikiFiles("team", files, whole=False), None).plan["told"]


def test_it_withdraws_nothing_for_loose_files(plan):
    batch = plan({"docs/e.md": "# E\n"}, name="wiki", whole=False)
    assert list(rows(batch)) == ["docs/e.md"]


@pytest.mark.parametrize("name", ["shipped", "Measured", " "])
def test_it_lets_nobody_take_a_name_of_this_installation(wiki, engineer, name):
    with pytest.raises(CurationError, match="origin"):
        plan_import(WikiFiles(name, {"a.md": "# A\n"}), engineer)


def test_it_lets_no_viewer_plan(wiki, viewer):
    with pytest.raises(Forbidden):
        plan_import(WikiFiles("team", {"a.md": "# A\n"}), viewer)
    assert not Batch.objects.exists()


@pytest.mark.parametrize("name", ["platform", "source", "note"])
@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800"])
def test_it_tells_of_a_record_that_no_database_stores(plan, name, escape):
    record = {"platform": "x-1", "metric": "tdp", "value": 710, "unit": "W", "source": "s"}
    record |= {"evidence_class": "documented", "note": "n", name: "a?b"}
    batch = plan({"x.json": json.dumps([record]).replace("?", escape)})
    (told,) = batch.plan["told"]
    assert told["fate"] == "unresolved"
    sign = json.loads(f'"{escape}"')
    assert not [text for text in told.values() if sign in str(text)]
