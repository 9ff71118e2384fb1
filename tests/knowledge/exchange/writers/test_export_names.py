"""Every document of an export has a file of its own, on every file system."""

import os

import pytest

from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.exchange.readers.files import TAKEN, read_folder
from knowledge.exchange.writers.export import export_files, export_folder, file_names
from knowledge.models import Document, Spec
from tests.knowledge.exchange.writers.test_export import empty_wiki


@pytest.mark.parametrize(
    ("paths", "renamed"),
    [
        (["README.md", "docs/a.md", "docs/x.json.md"], []),
        (["README.md", "docs/A.md", "docs/a.md", "docs/ab.md"], ["docs/a.md"]),
        (["README.md", "Docs/b.md", "docs/a.md"], ["docs/a.md"]),
        (["README.md", "a.md", "a.md/b.md"], ["a.md/b.md"]),
        (["README.md", "A.md/b.md", "a.md"], ["a.md"]),
        (["README.md", "__MACOSX/a.md", "specs.json/a.md", "Specs-2.json/b.md"], "all but first"),
        (["readme.md"], []),
        (["readme.md/a.md"], ["readme.md/a.md"]),
        (["README.md", "a.md", "A.md", "renamed/1.md"], ["a.md"]),
    ],
)
def test_it_renames_only_what_clashes(paths, renamed):
    found = file_names(paths)
    assert sorted(found) == sorted(paths)
    changed = [path for path, name in found.items() if name != path]
    assert sorted(changed) == sorted(paths[1:] if renamed == "all but first" else renamed)
    names = [name.casefold() for name in found.values()]
    assert len(set(names)) == len(names)
    assert found == file_names(reversed(paths))


CLASHING = {
    "README.md": "# Index\n",
    "docs/A.md": "# Large\n\nA [link](a.md).\n",
    "docs/a.md": "# Small\n",
    "docs/a.md/b.md": "# Below\n",
    "data/x.json.md": '# Records of data/x.json\n\n```json\n{"a": 1}\n```\n',
    "data/specs.json.md": "# Records\n\n- tdp: 700 W <- <gpu-wiki>/docs/A.md:L3\n",
}


@pytest.mark.django_db
def test_it_imports_again_to_the_same_paths(tmp_path, monkeypatch):
    take_files(CLASHING, ImportOptions(origin="team"))
    out = tmp_path / "export"
    export_folder(out)
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert files == {
        *("README.md", "specs.json", "data/x.json.md", "data/specs.json.md"),
        *("docs/A.md", "renamed/1.md", "renamed/2.md"),
    }
    before = dict(export_files())
    empty_wiki()
    import_wiki(out)
    assert {d.path: d.latest.text for d in Document.objects.all()} == CLASHING
    assert not Spec.objects.exists()
    assert dict(export_files()) == before
    assert import_wiki(out).changed is False
    # A second export replaces the first, and the files that are gone from it.
    assert export_folder(out) == len(files)
    (out / "renamed" / "3.md").write_text("# Old\n")
    export_folder(out)
    assert not os.path.exists(out / "renamed" / "3.md")
    assert set(read_folder(out, TAKEN)) == {*CLASHING, "specs.json"}
