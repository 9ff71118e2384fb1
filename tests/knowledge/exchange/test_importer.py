"""Import: all or nothing, the same again, and history kept."""

import pytest

from knowledge.exchange.importer import import_wiki, write_measured_document
from knowledge.exchange.readers.files import ImportRefused
from knowledge.models import Citation, Document, Flag, Platform, Revision, Spec, SpecState
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP, UNKNOWN_CORES

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

X1 = "docs/hardware/x-1.md"


def counts():
    return [model.objects.count() for model in (Platform, Document, Revision, Spec, Citation)]


@pytest.mark.django_db
def test_it_stores_platform_document_revision_specs_and_citations(folder):
    summary = import_wiki(folder)
    assert (summary.documents, summary.new_revisions, summary.specs_added) == (2, 2, 3)
    platform = Platform.objects.get(slug="x-1")
    assert (platform.name, platform.kind, platform.target) == ("X 1", "gpu", "sm_1")
    assert platform.aliases == ["Maker X 1", "X1"]
    spec = Spec.objects.get(metric="memory_bandwidth")
    assert (spec.value, spec.unit, spec.shown) == (4.8e12, "B/s", "4.8 TB/s")
    assert (spec.source, spec.source_url) == ("sheet", "https://example.org/x")
    assert (spec.state, spec.rank) == ("approved", "preferred")
    assert spec.citation.quote == BANDWIDTH
    assert spec.citation.revision.quoted(15, 15) == BANDWIDTH
    assert str(spec.citation) == f"memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/{X1}:L15"


def test_it_changes_nothing_the_second_time(wiki):
    before = counts()
    summary = import_wiki(wiki)
    assert (summary.new_revisions, summary.specs_added, summary.specs_retired) == (0, 0, 0)
    assert summary.specs_unchanged == 3
    assert counts() == before


def test_it_keeps_bytes_and_hash(wiki):
    revision = Document.objects.get(path=X1).latest
    assert revision.text.encode() == (wiki / X1).read_bytes()
    assert revision.intact


def test_it_reads_a_changed_file_again_and_keeps_the_history(wiki, page_text):
    old = Spec.objects.get(metric="memory_bandwidth")
    moved = Spec.objects.get(metric="tdp")
    faster = BANDWIDTH.replace("4.8", "4.9")
    (wiki / X1).write_text(page_text(UNKNOWN_CORES, faster, "", TDP, title="X one"))
    summary = import_wiki(wiki, vouched=True)
    assert (summary.new_revisions, summary.specs_added) == (1, 1)
    assert (summary.specs_retired, summary.specs_unchanged) == (1, 2)
    old.refresh_from_db()
    assert old.state == SpecState.RETIRED
    assert old.citation.revision.number == 1
    assert Spec.objects.preferred().get(metric="memory_bandwidth").shown == "4.9 TB/s"
    assert [c.first_line for c in moved.citations.all()] == [16, 18]
    assert moved.citation.first_line == 18
    document = Document.objects.get(path=X1)
    assert document.title == "X one"
    assert [r.number for r in document.revisions.all()] == [1, 2]


def test_it_believes_no_changed_line_that_nobody_vouches_for(wiki, page_text):
    old = Spec.objects.get(metric="memory_bandwidth")
    faster = BANDWIDTH.replace("4.8", "4.9")
    (wiki / X1).write_text(page_text("", faster, TDP))
    summary = import_wiki(wiki)
    assert (summary.flags_raised, summary.specs_proposed, summary.specs_unchanged) == (2, 1, 1)
    new = Spec.objects.get(shown="4.9 TB/s")
    assert (new.state, new.replaces) == (SpecState.PROPOSED, old)
    old.refresh_from_db()
    assert old.state == SpecState.APPROVED
    flag = old.flags.get()
    assert (flag.kind, flag.first_line, flag.quote) == ("changed", 16, faster)
    assert Spec.objects.get(metric="cuda_cores").flags.get().kind == "lost"


def test_it_closes_a_flag_when_the_text_comes_back(wiki, page_text):
    first = (wiki / X1).read_text()
    (wiki / X1).write_text(page_text(TDP))
    import_wiki(wiki)
    old = Spec.objects.get(metric="memory_bandwidth")
    assert Flag.objects.open().filter(spec=old).count() == 1
    (wiki / X1).write_text(first)
    import_wiki(wiki)
    assert not Flag.objects.open().exists()
    assert old.citation.revision.number == 3
    assert Spec.objects.filter(metric="memory_bandwidth").count() == 1


def test_it_flags_every_value_of_a_document_that_is_gone(wiki, page_text):
    text = (wiki / X1).read_text()
    (wiki / X1).unlink()
    summary = import_wiki(wiki)
    assert (summary.documents_withdrawn, summary.flags_raised) == (1, 3)
    assert set(Flag.objects.values_list("kind", flat=True)) == {"source_missing"}
    assert import_wiki(wiki).documents_withdrawn == 0
    (wiki / X1).write_text(text)
    import_wiki(wiki)
    assert not Flag.objects.open().exists()
    assert Document.objects.get(path=X1).withdrawn_at is None


def test_it_flags_values_when_the_document_speaks_of_another_product(wiki, page_text):
    text = (wiki / X1).read_text().replace("aliases: Maker X 1; X1", "aliases: X2")
    (wiki / X1).write_text(text.replace("platform: x-1", "platform: x-2"))
    summary = import_wiki(wiki)
    assert (summary.flags_raised, summary.specs_proposed) == (3, 3)
    flag = Spec.objects.get(metric="tdp", platform__slug="x-1").flags.get()
    assert flag.note == "the document speaks of x-2 now"


def test_a_new_line_replaces_only_the_answer_to_its_own_question(wiki, page_text):
    cores = "- tensor_cores: 40 core | per=GPC | evidence=documented | kind=vendor | rank=preferred"
    (wiki / X1).write_text(page_text(BANDWIDTH, TDP, f"{cores} | source=s"))
    import_wiki(wiki, vouched=True)
    other = cores.replace("per=GPC", "per=TPC")
    (wiki / X1).write_text(page_text(BANDWIDTH, TDP.replace("700", "710"), f"{other} | source=s"))
    import_wiki(wiki)
    new = Spec.objects.get(shown="710 W")
    assert (new.replaces.shown, new.replaces.metric) == ("700 W", "tdp")
    (new,) = Spec.objects.filter(metric="tensor_cores", state="proposed")
    assert (new.qualifiers, new.replaces) == ({"per": "TPC"}, None)


def test_a_new_line_replaces_no_answer_of_another_product(wiki):
    text = (wiki / X1).read_text().replace("aliases: Maker X 1; X1", "aliases: X2")
    (wiki / X1).write_text(text.replace("platform: x-1", "platform: x-2"))
    import_wiki(wiki)
    proposed = Spec.objects.filter(platform__slug="x-2")
    assert [spec.replaces for spec in proposed] == [None] * 3


def test_it_goes_back_to_an_earlier_text_as_a_new_revision(wiki, page_text):
    first = (wiki / X1).read_text()
    (wiki / X1).write_text(page_text(TDP))
    import_wiki(wiki, vouched=True)
    (wiki / X1).write_text(first)
    import_wiki(wiki, vouched=True)
    assert Document.objects.get(path=X1).latest.number == 3
    assert Spec.objects.preferred().filter(metric="memory_bandwidth").count() == 1
    assert Spec.objects.filter(metric="memory_bandwidth").count() == 2
    assert Spec.objects.filter(metric="tdp").count() == 1


def test_it_stores_nothing_when_one_file_is_wrong(wiki, page_text):
    before = counts()
    (wiki / "docs/a.md").write_text(
        page_text(BANDWIDTH.replace("4.8", "4.9")).replace("x-1", "x-2")
    )
    (wiki / "docs/b.md").write_text(page_text(TDP.replace("700 W", "700 Watts")))
    with pytest.raises(ImportRefused, match=r"^docs/b.md:L15: unknown unit 'Watts'"):
        import_wiki(wiki)
    assert counts() == before


def test_it_stores_nothing_when_two_documents_prefer_different_values(wiki, page_text):
    before = counts()
    (wiki / "docs/z.md").write_text(page_text(TDP.replace("700", "650")))
    with pytest.raises(ImportRefused, match=r"docs/z.md:L15: tdp of x-1 has a preferred value"):
        import_wiki(wiki)
    assert counts() == before


def test_it_stores_nothing_when_no_value_is_preferred(wiki, page_text):
    before = counts()
    (wiki / X1).write_text(page_text(BANDWIDTH.replace("preferred", "normal"), TDP))
    with pytest.raises(ImportRefused, match=f"{X1}:L15: no value of memory_bandwidth of x-1 is"):
        import_wiki(wiki, vouched=True)
    assert counts() == before


def test_it_names_a_platform_that_nobody_introduced(wiki):
    (wiki / "docs/y.md").write_text(f"# Y\n\n## Platform\n\n- platform: y\n\n## Specs\n\n{TDP}\n")
    with pytest.raises(ImportRefused, match=r"docs/y.md: unknown platform 'y'; known: x-1"):
        import_wiki(wiki)


@pytest.mark.django_db
def test_it_refuses_files_from_outside_the_folder(folder, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n")
    (folder / "docs/link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ImportRefused, match=r"docs/link.md: points outside"):
        import_wiki(folder)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("docs/x y.md", b"# X\n", "document path 'docs/x y.md'"),
        ("docs/x.md", b"# X \xff\n", "docs/x.md: not UTF-8 at byte 4"),
        ("docs/x.md", b"# X\n" + b"x" * 2_000_000, "docs/x.md: larger than 2000000 bytes"),
    ],
)
def test_it_refuses_files_that_it_can_not_keep(folder, name, content, message):
    (folder / name).write_bytes(content)
    with pytest.raises(ImportRefused) as refused:
        import_wiki(folder)
    assert message in str(refused.value)
    assert counts() == [0] * 5


def test_it_refuses_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ImportRefused, match="not a folder"):
        import_wiki(tmp_path / "nowhere")


MEASURED = SOURCE.replace("documented", "measured").replace("=vendor", "=measured")


def measured(rate):
    return (
        "# Measured on X 1\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n"
        f"- copy_bandwidth: {rate} TB/s | {MEASURED}\n"
    )


def test_it_stores_a_measured_document(wiki):
    revision = write_measured_document("docs/measured/x-1.md", measured("4.1"))
    spec = Spec.objects.get(metric="copy_bandwidth")
    assert (spec.evidence, spec.value, spec.platform.slug) == ("measured", 4.1e12, "x-1")
    assert spec.citation.revision == revision
    assert write_measured_document("docs/measured/x-1.md", measured("4.1")) == revision
    again = write_measured_document("docs/measured/x-1.md", measured("4.2"))
    assert again.number == 2
    assert Spec.objects.preferred().get(metric="copy_bandwidth").value == 4.2e12


def test_it_lets_a_measured_document_introduce_its_platform(db, page_text):
    write_measured_document("docs/measured/x-1.md", page_text(TDP))
    assert Platform.objects.get().slug == "x-1"


def test_it_keeps_measured_documents_in_their_folder(wiki):
    with pytest.raises(ImportRefused, match="stored under docs/measured/"):
        write_measured_document(X1, measured("4.1"))


def test_it_gives_no_platform_the_driver_name_of_another(wiki):
    text = (wiki / X1).read_text().replace("platform: x-1", "platform: x-2")
    (wiki / "docs/fake.md").write_text(text)
    with pytest.raises(ImportRefused, match="platform x-2: drivers report 'Maker X 1' of x-1"):
        import_wiki(wiki)
    assert not Platform.objects.filter(slug="x-2").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- name: X 1", "- name: " + "X" * 201, "docs/hardware/x-1.md:L5: name: 201 characters"),
        ("source=sheet", "source=" + "s" * 301, "docs/hardware/x-1.md:L15: source: 301 char"),
    ],
)
def test_it_refuses_what_one_of_the_databases_would_not_store(wiki, old, new, message):
    (wiki / X1).write_text((wiki / X1).read_text().replace(old, new, 1))
    with pytest.raises(ImportRefused, match=message):
        import_wiki(wiki)
