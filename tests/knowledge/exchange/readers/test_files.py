"""Archives and loose files from a browser: bounded, and nothing leaves its folder."""

import io
import stat
import zipfile

import pytest
from django.core.files import File
from django.core.files.uploadedfile import SimpleUploadedFile

from knowledge.exchange.readers import files as limits
from knowledge.exchange.readers.files import ImportRefused, read_uploads, write_archive


def packed(*entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return io.BytesIO(out.getvalue())


def refused(file):
    with pytest.raises(ImportRefused) as caught:
        read_uploads([File(file, "w.zip")])
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_it_reads_documents_and_records_and_names_the_rest():
    files = [("README.md", "# A\n"), ("docs/b.md", "# B\r\n"), ("s.json", "[]"), ("i.png", b"\x89")]
    brought = read_uploads([File(packed(*files), "w.zip")])
    assert brought.texts == {"README.md": "# A\n", "docs/b.md": "# B\r\n", "s.json": "[]"}
    assert (brought.name, brought.left_out, brought.whole) == ("w", ("i.png",), True)


def test_it_takes_off_the_folder_around_everything():
    assert list(read_uploads([File(packed(("wiki-main/docs/a.md", "# A\n")), "w.zip")]).texts) == [
        "docs/a.md"
    ]
    assert list(read_uploads([File(packed(("docs/a.md", "# A\n")), "w.zip")]).texts) == [
        "docs/a.md"
    ]
    two = packed(("a/x.md", "# A\n"), ("b/x.md", "# B\n"))
    assert list(read_uploads([File(two, "w.zip")]).texts) == ["a/x.md", "b/x.md"]


def test_it_passes_over_what_a_packer_adds():
    brought = read_uploads([File(packed(("a.md", "# A\n"), ("__MACOSX/._a.md", b"\xff")), "w.zip")])
    assert (list(brought.texts), brought.left_out) == (["a.md"], ())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../a.md", "../a.md: points outside the folder"),
        ("docs/../../a.md", "docs/../../a.md: points outside the folder"),
        ("/etc/a.md", "'/etc/a.md': accepted are relative paths"),
        ("docs\\a.md", r"'docs\\a.md': accepted are relative paths"),
        ("C:a.md", "'C:a.md': accepted are relative paths"),
        ("../x.png", "../x.png: points outside the folder"),
        (f"{'a' * 198}.md", f"{'a' * 40}…: paths of up to 200 characters"),
    ],
)
def test_it_refuses_a_path_that_leaves_the_folder(name, message):
    assert refused(packed(("b.md", "# B\n"), (name, "# A\n"))).startswith(message)


def test_it_refuses_a_link():
    link = zipfile.ZipInfo("a.md")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    assert refused(packed((link, "/etc/passwd"))) == "a.md: a link; accepted are plain files"


def test_it_refuses_a_bomb_by_what_it_claims_and_by_what_comes_out(monkeypatch):
    bomb = packed(("a.md", b"x" * 3_000_000))
    assert len(bomb.getvalue()) < 10_000
    assert refused(bomb) == "a.md: larger than 2000000 bytes"
    monkeypatch.setattr("knowledge.exchange.readers.files.MAX_TOTAL_BYTES", 1_500_000)
    two = packed(*((f"{n}.md", b"x" * 1_000_000) for n in range(2)))
    assert refused(two).startswith("1.md: the files together are larger")


def test_it_refuses_an_archive_that_lies_about_a_size():
    honest = packed(("a.md", b"x" * 3_000_000)).getvalue()
    said, lie = (3_000_000).to_bytes(4, "little"), (5).to_bytes(4, "little")
    assert refused(io.BytesIO(honest.replace(said, lie))).startswith("w.zip: not a readable .zip")


def test_it_refuses_too_many_files_and_entries(monkeypatch):
    files = [(f"{n}.md", "# A\n") for n in range(3)]
    monkeypatch.setattr("knowledge.exchange.readers.files.MAX_FILES", 2)
    assert refused(packed(*files)).startswith("2.md: more than 2 files")
    monkeypatch.setattr(limits, "MAX_ENTRIES", 2)
    assert refused(packed(*files)).startswith("more than 2 entries")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("a.md", b"\xff")], "a.md: not UTF-8 at byte 0"),
        ([("A.md", "# A\n"), ("a.md", "# A\n")], "A.md and a.md differ only in case"),
        ([("a.png", b"")], "w.zip: holds no file of .md and .json"),
    ],
)
def test_it_names_what_it_can_not_keep(entries, message):
    assert refused(packed(*entries)).startswith(message)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_it_refuses_a_name_that_stands_twice():
    twice = packed(("a.md", "# A\n"), ("a.md", "# B\n"))
    assert refused(twice).startswith("a.md: occurs twice")


def test_it_refuses_other_packings():
    entry = zipfile.ZipInfo("a.md")
    entry.compress_type = zipfile.ZIP_LZMA
    assert refused(packed((entry, "# A\n"))).startswith("a.md: unsupported compression")


def test_it_refuses_a_name_that_is_no_utf_8():
    data = packed(("é.md", "# A\n")).getvalue().replace("é".encode(), b"\xff\xfe")
    assert refused(io.BytesIO(data)).startswith("w.zip: not a readable .zip archive: 'utf-8' codec")


def test_it_refuses_a_damaged_archive():
    whole = bytearray(packed(("a.md", "# A\n" * 99)).getvalue())
    whole[38] ^= 0xFF
    assert refused(io.BytesIO(bytes(whole))).startswith("w.zip: not a readable .zip archive")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive at all"])
def test_it_refuses_what_is_no_archive(data):
    assert refused(io.BytesIO(data)).startswith("w.zip: not a readable .zip archive")


def upload(name, data=b"# A\n"):
    return SimpleUploadedFile(name, data)


def test_it_takes_loose_files_for_a_part_of_a_folder():
    brought = read_uploads([upload("a.md"), upload("s.json", b"[]")])
    assert (brought.texts, brought.whole) == ({"a.md": "# A\n", "s.json": "[]"}, False)


def test_it_names_an_import_after_its_archive():
    file = SimpleUploadedFile("team-wiki.zip", packed(("a.md", "# A\n")).getvalue())
    assert read_uploads([file]).name == "team-wiki"


def test_it_refuses_an_archive_that_is_too_large(monkeypatch):
    monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 10)
    with pytest.raises(ImportRefused, match=r"^w.zip: larger than 10 bytes"):
        read_uploads([upload("w.zip", b"x" * 11)])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no file; accepted"),
        ([upload("a.txt")], "a.txt: accepted are .md and .json files"),
        ([upload("a.md"), upload("b.zip")], "b.zip: accepted are .md and .json files"),
        ([upload("a.md"), upload("a.md")], "a.md: given twice"),
        ([upload("a.md"), upload("A.md")], "A.md and a.md differ only in case"),
        ([upload("a.md", b"x" * 2_000_001)], "a.md: larger than 2000000 bytes"),
    ],
)
def test_it_names_a_loose_file_that_it_does_not_take(files, message):
    with pytest.raises(ImportRefused) as caught:
        read_uploads(files)
    assert str(caught.value).startswith(message)


def test_it_packs_the_same_texts_into_the_same_bytes():
    files = [("a.md", "# Ä\n"), ("b.md", "# B\n")]
    one = write_archive(files)
    assert one == write_archive(iter(files))
    assert read_uploads([File(io.BytesIO(one), "w.zip")]).texts == {
        "a.md": "# Ä\n",
        "b.md": "# B\n",
    }
