"""`wiki import --plan`, `wiki imports`, `wiki undo` and `wiki export` from the shell."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.management.base_command import ExitCode
from knowledge.exchange import in_parts
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Document, Spec
from tests.campaigns.commands.test_wiki import TEXT
from tests.knowledge.conftest import person


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "team"
    made.mkdir()
    (made / "x.md").write_text(TEXT)
    return made


def fails(*words):
    with pytest.raises(CommandError) as caught:
        call_command("wiki", *words)
    return caught.value.returncode, str(caught.value)


def test_it_plans_and_stores_no_document(db, folder, capsys):
    call_command("wiki", "import", str(folder), "--plan", "--json")
    said = capsys.readouterr()
    plan = json.loads(said.out)
    assert [row["outcome"] for row in plan["documents"]] == ["new"]
    assert plan["import"] == Batch.objects.get(state="planned").pk
    assert f"/w/imports/{plan['import']}/" in said.err
    assert not Document.objects.exists()


def planned(folder, capsys):
    call_command("wiki", "import", str(folder), "--plan")
    batch = Batch.objects.get()
    assert f"`wiki confirm {batch.pk}` does it" in capsys.readouterr().err
    return str(batch.pk)


def test_it_confirms_a_plan(db, folder, capsys):
    number = planned(folder, capsys)
    call_command("wiki", "confirm", number, "--json")
    said = capsys.readouterr()
    done = json.loads(said.out)
    assert (done["new_revisions"], done["specs_added"]) == (1, 1)
    assert done["platforms"] == [{"slug": "x-1", "change": "new: X", "is_new": True}]
    assert f"`wiki undo {number}` takes it back" in said.err
    assert Document.objects.get().path == "x.md"
    code, message = fails("confirm", number)
    assert (code, "was confirmed by a command" in message) == (ExitCode.USAGE, True)


def test_it_confirms_many_files_of_a_person_in_parts_and_says_how_far_it_is(
    db, monkeypatch, capsys
):
    monkeypatch.setattr(in_parts, "MANY", 2)
    monkeypatch.setattr(in_parts, "PART", 2)
    files = {f"docs/{n}.md": f"# {n}\n" for n in range(3)}
    batch = plan_import(WikiFiles("theirs", files), person("eve", "engineer"))
    call_command("wiki", "confirm", str(batch.pk), "--json")
    said = capsys.readouterr()
    assert json.loads(said.out)["done"]["new_revisions"] == 3
    assert said.err.splitlines() == ["2 of 3 documents", "3 of 3 documents"]


def test_it_drops_a_plan(db, folder, capsys):
    number = planned(folder, capsys)
    call_command("wiki", "drop", number, "--why", "wrong folder", "--json")
    dropped = json.loads(capsys.readouterr().out)
    assert (dropped["state"], dropped["why"]) == ("dropped", "wrong folder")
    assert fails("drop", number)[0] == ExitCode.USAGE
    assert fails("confirm", "7")[0] == ExitCode.NOT_FOUND
    assert not Document.objects.exists()


def test_it_tells_what_it_describes_anew(db, folder, capsys):
    call_command("wiki", "import", str(folder))
    (folder / "x.md").write_text(TEXT.replace("native", "sm_2"))
    capsys.readouterr()
    call_command("wiki", "import", str(folder))
    assert "platform x-1 has a new description: target: native → sm_2" in capsys.readouterr().err


def test_it_refuses_documents_of_another_folder(db, folder, tmp_path, capsys):
    call_command("wiki", "import", str(folder))
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text(TEXT + "\nmore\n")
    code, message = fails("import", str(other))
    assert (code, message.startswith("x.md: belongs to 'team'; accepted: ")) == (
        ExitCode.USAGE,
        True,
    )


def test_it_fails_for_a_plan_with_refused_files(db, folder, capsys):
    (folder / "y.md").write_text(TEXT.replace("TB/s", "TB"))
    code, message = fails("import", str(folder), "--plan")
    assert (code, message) == (ExitCode.USAGE, "1 files are refused; nothing can be imported")
    said = capsys.readouterr()
    assert "refused    y.md" in said.out
    assert "y.md:L14" in said.err


def test_it_lists_an_import_and_undoes_it(db, folder, capsys):
    call_command("wiki", "import", str(folder))
    batch = Batch.objects.get()
    assert f"`wiki undo {batch.pk}` takes it back" in capsys.readouterr().err
    call_command("wiki", "imports", "--json")
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["import"], listed["state"], listed["origin"]) == (batch.pk, "confirmed", "team")
    call_command("wiki", "undo", str(batch.pk), "--why", "wrong")
    assert Spec.objects.get().state == "retired"
    code, message = fails("undo", str(batch.pk), "--why", "again")
    assert code == ExitCode.USAGE
    assert "only a confirmed import can be undone" in message


def test_it_lists_no_import_that_changed_nothing(db, folder, capsys):
    call_command("wiki", "import", str(folder))
    call_command("wiki", "import", str(folder))
    assert Batch.objects.count() == 1


def test_it_says_that_there_is_no_import(db, capsys):
    call_command("wiki", "imports")
    assert "no import yet" in capsys.readouterr().err
    assert fails("undo", "7", "--why", "x") == (
        ExitCode.NOT_FOUND, "no import 7; `wiki imports` lists them",
    )  # fmt: skip


def test_it_prints_what_does_not_resolve(db, folder, capsys):
    (folder / "v.md").write_text("# V\n\n- tdp: 1 W <- <gpu-wiki>/docs/gone.md:L1\n")
    call_command("wiki", "import", str(folder), "--json")
    said = capsys.readouterr()
    assert "v.md:L3: unresolved: there is no docs/gone.md in the folder" in said.err
    assert json.loads(said.out)["outcomes"][0]["fate"] == "unresolved"


def test_it_exports_a_folder_that_imports_again(db, folder, tmp_path, capsys):
    call_command("wiki", "import", str(folder))
    capsys.readouterr()
    out = tmp_path / "out"
    call_command("wiki", "export", str(out), "--json")
    assert json.loads(capsys.readouterr().out) == {"folder": str(out), "files": 3}
    assert (out / "x.md").read_text() == TEXT
    call_command("wiki", "export", str(out))
    code, message = fails("export", str(folder))
    assert code == ExitCode.USAGE
    assert "accepted: an empty folder" in message
