"""A person brings a kernel: what kopt makes of it, an error, and a campaign that can have it."""

import pytest
from playwright.sync_api import expect

from tests.campaigns.problems.import_.sources import CPP, RELU

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# The reference is run in a process of its own that starts torch, on a machine that may be busy.
LOOK_LIMIT_MS = 60_000
CALL = "Relu()(torch.randn(8, 16))"


def test_it_goes_from_a_file_to_the_form_of_a_campaign_without_scripts(visit, tmp_path):
    seen = visit(java_script_enabled=False)
    page = seen.page
    seen.open("/c/new")
    page.get_by_role("link", name="Bring your own kernel").click()
    kernel, reference = tmp_path / "clamp.cpp", tmp_path / "model.py"
    kernel.write_text(CPP)
    reference.write_text(RELU)
    page.set_input_files("#given-kernel-upload", kernel)
    page.set_input_files("#given-reference-upload", reference)
    page.click("#look")
    page.locator("#problem-error").wait_for()
    expect(page.locator("#problem-error")).to_contain_text("no call of Relu")
    # What was in the files is in the form now.
    assert page.locator("#given-kernel").input_value().strip() == CPP.strip()
    page.fill("#given-call", CALL)
    page.click("#look", timeout=LOOK_LIMIT_MS)
    page.locator("#keep").wait_for()
    expect(page.locator("main")).to_contain_text("8 × 16")
    page.click("#keep")
    page.wait_for_url("**/p/clamp/")
    page.get_by_role("link", name="New campaign").click()
    assert page.locator("#new-problem").input_value() == "clamp"
    seen.errors[:] = [error for error in seen.errors if "422" not in error]
    assert (seen.errors, seen.strange) == ([], [])


@pytest.mark.parametrize("width", [375, 1280])
def test_its_page_fits(visit, width):
    seen = visit(viewport={"width": width, "height": 812})
    seen.open("/p/new")
    assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
