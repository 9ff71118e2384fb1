"""A folder comes in and goes back, with scripts and without. UX checks 24 and 28."""

import io
import zipfile

import pytest
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Batch, Document, Spec
from tests.browser.look import faults
from tests.kept_wiki import put_wiki

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHEET = "docs/team/h200.md"
TEXT = (
    "# A sheet\n\n## Platform\n\n- platform: h200-sxm\n\n## Specs\n\n- memory_capacity: 143 GB | "
    "evidence=documented | kind=vendor | rank=normal | source=sheet\n"
)


@pytest.fixture
def wiki(owner):
    """The shipped wiki, and a sheet that the owner has brought in before."""
    put_wiki()
    take_files({SHEET: TEXT}, ImportOptions(origin="team", by=owner))


def folder(text):
    """A .zip of the sheet with this text, and a note with a citation to nowhere."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(SHEET, text)
        archive.writestr("n.md", "# N\n\n- tdp: 1 W <- <gpu-wiki>/docs/gone.md:L1\n")
    return {"name": "team.zip", "mimeType": "application/zip", "buffer": out.getvalue()}


def plan(page, file):
    page.set_input_files("#files", file)
    page.click("#plan")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_folder_is_brought_in_and_taken_back(enter, wiki, tmp_path, scripts):
    """What is no archive is named at its field, a broken file with its line and no way to confirm
    it; a sound folder is planned, confirmed and undone with a reason, each state on a page; the
    wiki goes out again as a .zip.
    """
    page = (seen := enter(java_script_enabled=scripts)).page
    seen.open("/w/imports/")
    page.get_by_text("python manage.py wiki import FOLDER --plan").wait_for()
    expect(page.locator("button.primary")).to_have_count(1)
    plan(page, {"name": "a.zip", "mimeType": "application/zip", "buffer": b"no archive"})
    expect(page.locator("#files-error")).to_contain_text("a.zip: not a readable .zip archive")
    assert faults(page) == []
    plan(page, folder("# H\n\n## Specs\n\n- tdp: 1 | evidence=x\n"))
    expect(page.locator("tr[data-outcome=refused]")).to_contain_text(f"{SHEET}:L5: ")
    page.wait_for_load_state()
    expect(page.locator("#confirm")).to_have_count(0)
    page.click("#drop")
    page.locator("#state[data-state=dropped]").wait_for()
    assert Batch.objects.get().files == {}

    seen.open("/w/imports/")
    plan(page, folder(TEXT.replace("143 GB", "142 GB")))
    page.locator("#state[data-state=planned]").wait_for()
    expect(page.locator("button.primary")).to_have_count(1)
    rows = page.locator("tr[data-outcome]")
    assert rows.evaluate_all("all => all.map(row => row.dataset.outcome)") == ["changed", "new"]
    expect(page.locator("[data-cite-state=changed]")).to_be_visible()
    expect(page.locator("[data-fate=unresolved]")).to_contain_text("there is no docs/gone.md")
    assert Document.objects.get(path=SHEET).latest.number == 1
    page.click("#confirm")
    page.locator("#state[data-state=confirmed]").wait_for()
    assert Spec.objects.get(shown="142 GB").state == "proposed"
    page.click("#to-undo")
    page.fill("#why", "the wrong sheet")
    page.click("#undo")
    page.locator("#state[data-state=undone]").wait_for()
    expect(page.locator("main")).to_contain_text("the wrong sheet")
    assert Document.objects.get(path=SHEET).latest.text == TEXT
    assert Spec.objects.get(shown="142 GB").state == "retired"

    seen.open("/w/imports/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export the wiki as a .zip").click()
    download.value.save_as(tmp_path / "wiki.zip")
    with zipfile.ZipFile(tmp_path / "wiki.zip") as archive:
        assert {SHEET, "specs.json"} <= {*archive.namelist()}
