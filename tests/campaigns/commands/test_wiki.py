"""`wiki import`, `wiki check` and `wiki ceilings` from the shell."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.hold import DeviceBusy
from campaigns.devices.passport import Measured
from campaigns.evaluator.ceilings.result import CeilingsError
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import wiki
from knowledge.exchange.importer import SHIPPED, write_measured_document
from knowledge.models import Document, Revision

LINE = "memory_bandwidth: 4.8 TB/s | evidence=measured | kind=measured | rank=preferred | source=s"
PLATFORM = "- platform: x-1\n- name: X\n- vendor: V\n- arch: A\n- kind: cpu\n- target: native"
TEXT = f"# X\n\n## Platform\n\n{PLATFORM}\n\n## Specs\n\n- {LINE}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "x.md").write_text(TEXT)
    return tmp_path


def _fails(*words):
    with pytest.raises(CommandError) as caught:
        call_command("wiki", *words)
    return caught.value.returncode, str(caught.value)


def test_it_imports_a_folder_and_finds_that_it_holds(db, folder, capsys):
    call_command("wiki", "import", str(folder), "--json")
    assert json.loads(capsys.readouterr().out)["specs_added"] == 1
    call_command("wiki", "check", str(folder), "--json")
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert said.err == "every citation holds\n"


def test_it_imports_the_shipped_wiki_by_default(db, capsys):
    call_command("wiki", "import")
    call_command("wiki", "check")
    assert Document.objects.count() == len(list(SHIPPED.rglob("*.md")))


def test_it_fails_when_a_cited_line_has_changed(db, folder, capsys):
    call_command("wiki", "import", str(folder))
    (folder / "x.md").write_text(TEXT.replace("4.8", "4.9"))
    capsys.readouterr()
    code, message = _fails("check", str(folder), "--json")
    assert code == ExitCode.USAGE
    problems = json.loads(capsys.readouterr().out)
    assert ("x.md:L14", "changed") in {(one["place"], one["state"]) for one in problems}
    assert message == f"{len(problems)} citations or documents do not hold"


def test_it_checks_the_files_alone_before_anything_is_imported(db, folder, capsys):
    call_command("wiki", "check", str(folder))
    assert "the files alone were checked" in capsys.readouterr().err
    (folder / "x.md").write_text(TEXT.replace("TB/s", "TB"))
    code, _ = _fails("check", str(folder))
    assert code == ExitCode.USAGE
    assert "x.md: unreadable: x.md:L14" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["import", "check"])
def test_it_names_a_folder_that_is_none(db, tmp_path, verb):
    assert _fails(verb, str(tmp_path / "none")) == (
        ExitCode.USAGE,
        f"{tmp_path / 'none'}: not a folder",
    )


def test_it_prints_the_citations_of_what_it_measured(db, monkeypatch, capsys):
    asked = []

    def measure(device):
        asked.append(device.device)
        return Measured(
            write_measured_document("docs/measured/x-1.md", TEXT), ("the host was busy",)
        )

    monkeypatch.setattr(wiki, "measure_ceilings", measure)
    call_command("wiki", "ceilings", "--device", "cpu", "--json")
    printed = capsys.readouterr()
    assert asked == ["cpu"]
    assert "note: the host was busy\n" in printed.err
    assert json.loads(printed.out) == {
        "document": "docs/measured/x-1.md",
        "revision": Revision.objects.get().short,
        "citations": ["memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/measured/x-1.md:L14"],
        "notes": ["the host was busy"],
    }


@pytest.mark.parametrize("error", [CeilingsError("no compiler"), DeviceBusy("cpu is held")])
def test_it_says_why_nothing_was_measured(db, monkeypatch, error):
    def fail(device):
        raise error

    monkeypatch.setattr(wiki, "measure_ceilings", fail)
    assert _fails("ceilings", "--device", "cpu") == (ExitCode.USAGE, str(error))


def test_it_does_not_find_a_device_that_is_not_there(db):
    code, message = _fails("ceilings", "--device", "cuda:99")
    assert code == ExitCode.NOT_FOUND
    assert "cuda:99" in message


def test_it_warns_of_a_value_that_contradicts_an_approved_one(db, folder, capsys):
    fields = "evidence=documented | kind=vendor | source=s"
    first = TEXT.replace(LINE, f"memory_capacity: 96 GB | {fields} | rank=preferred")
    (folder / "x.md").write_text(first)
    call_command("wiki", "import", str(folder))
    assert "warning: " not in capsys.readouterr().err
    second = f"- memory_capacity: 141 GB | {fields.replace('source=s', 'source=a blog')}\n"
    (folder / "y.md").write_text(f"# Y\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n{second}")
    call_command("wiki", "import", str(folder))
    said = capsys.readouterr().err
    assert "warning: x-1 memory_capacity: 141 GB: 141 GB here, but 96 GB is approved" in said


def test_it_finds_documents_by_words_of_their_text(db, folder, capsys):
    call_command("wiki", "import", str(folder))
    capsys.readouterr()
    call_command("wiki", "search", "Bandwidth", "4.8", "--json")
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["path"], found["line"], found["text"]) == ("x.md", 14, f"- {LINE}")
    message = "no document holds all words of 'zebra'"
    assert _fails("search", "zebra") == (ExitCode.NOT_FOUND, message)
