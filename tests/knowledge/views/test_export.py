"""The wiki as a .zip."""

import io

from django.core.files import File

from knowledge.curation.revise import store_text
from knowledge.exchange.readers.files import read_uploads


def test_it_gives_a_folder_that_can_be_read_again(viewer, wiki):
    answer = viewer.get("/w/export.zip")
    assert answer["Content-Type"] == "application/zip"
    assert "kopt-wiki.zip" in answer["Content-Disposition"]
    texts = read_uploads([File(io.BytesIO(answer.content), "kopt-wiki.zip")]).texts
    assert sorted(texts) == ["README.md", "docs/hardware/x-1.md", "specs.json"]
    assert texts["README.md"].encode() == (wiki / "README.md").read_bytes()
    assert viewer.get("/w/export.zip").content == answer.content


def test_it_asks_for_a_login_and_only_reads(client, viewer, wiki):
    assert viewer.post("/w/export.zip").status_code == 405
    client.logout()
    assert client.get("/w/export.zip").status_code == 302


def test_it_writes_no_name_that_leaves_the_folder(viewer, wiki):
    store_text("../x.md", "Evil", "# Evil\n", origin="evil", by=None)
    answer = viewer.get("/w/export.zip")
    assert answer.status_code == 409
    assert "../x.md: points outside the folder" in answer.content.decode()
