"""A folder comes in and goes back through a browser, with scripts and without (UX 24, 28)."""

import io
import zipfile

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Batch, Document, Spec
from tests.kept_wiki import put_wiki

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHEET = "docs/team/h200.md"
TEXT = (
    "# A sheet\n\n## Platform\n\n- platform: h200-sxm\n\n## Specs\n\n- memory_capacity: 143 GB | "
    "evidence=documented | kind=vendor | rank=normal | source=sheet\n"
)


@pytest.fixture
def wiki(site):
    """The shipped wiki, and a sheet that the visitor has brought in before."""
    put_wiki()
    take_files({SHEET: TEXT}, ImportOptions(origin="team", by=User.objects.get()))


def folder(text):
    """A .zip of the sheet with this text, and a note with a citation to nowhere."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(SHEET, text)
        archive.writestr("n.md", "# N\n\n- tdp: 1 W <- <gpu-wiki>/docs/gone.md:L1\n")
    return {"name": "team.zip", "mimeType": "application/zip", "buffer": out.getvalue()}


@pytest.mark.parametrize("scripts", [True, False])
def test_it_brings_a_folder_in_and_takes_it_back(visit, wiki, scripts):
    text = TEXT.replace("143 GB", "142 GB")
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    assert seen.open("/w/imports/").status == 200
    page.get_by_text("python manage.py wiki import FOLDER --plan").wait_for()
    page.set_input_files("#files", folder(text))
    page.click("#plan")
    page.locator("#state[data-state=planned]").wait_for()
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
    assert (seen.errors, seen.strange) == ([], [])


def test_it_names_a_broken_file_and_imports_nothing(visit, wiki):
    seen = visit()
    seen.open("/w/imports/")
    seen.page.set_input_files(
        "#files", {"name": "a.zip", "mimeType": "application/zip", "buffer": b"no archive"}
    )
    seen.page.click("#plan")
    expect(seen.page.locator("#files-error")).to_contain_text("a.zip: not a readable .zip archive")
    seen.page.set_input_files("#files", folder("# H\n\n## Specs\n\n- tdp: 1 | evidence=x\n"))
    seen.page.click("#plan")
    expect(seen.page.locator("tr[data-outcome=refused]")).to_contain_text(f"{SHEET}:L5: ")
    seen.page.wait_for_load_state()
    expect(seen.page.locator("#confirm")).to_have_count(0)
    seen.page.click("#drop")
    seen.page.locator("#state[data-state=dropped]").wait_for()
    assert Batch.objects.get().files == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits(visit, wiki, width, scheme):
    seen = visit(viewport={"width": width, "height": 812}, color_scheme=scheme)
    seen.open("/w/imports/")
    seen.page.set_input_files("#files", folder("# H\n\n- a long line " + "x" * 300 + "\n"))
    seen.page.click("#plan")
    seen.page.wait_for_load_state()
    for path in (f"/w/imports/{Batch.objects.get().pk}/", "/w/imports/"):
        assert seen.open(path).status == 200
        assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        small = seen.page.evaluate(
            """[...document.querySelectorAll("main :is(button, .button, summary)")]
            .map(e => e.getBoundingClientRect())
            .filter(r => r.width && (r.height < 24 || r.width < 24)).length"""
        )
        assert small == 0
        expect(seen.page.locator("h1")).to_have_count(1)
        expect(seen.page.locator("button.primary")).to_have_count(1)
    assert (seen.errors, seen.strange) == ([], [])


def test_it_exports_what_a_folder_is(visit, wiki, tmp_path):
    seen = visit()
    seen.open("/w/imports/")
    with seen.page.expect_download() as download:
        seen.page.get_by_role("link", name="Export the wiki as a .zip").click()
    download.value.save_as(tmp_path / "wiki.zip")
    with zipfile.ZipFile(tmp_path / "wiki.zip") as archive:
        assert SHEET in archive.namelist()
        assert "specs.json" in archive.namelist()
