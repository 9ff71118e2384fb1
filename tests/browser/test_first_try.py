"""A first try at a kernel of one's own: it says that it reads, and proposes what is missing."""

import pytest
from playwright.sync_api import expect

from tests.browser.look import faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

REFERENCE = "import torch\n\n\ndef relu_ref(x: 'f32[N, D]'):\n    return torch.relu(x)\n"
# What is seen some time after the form was sent, however long the click took.
NOTE = """document.querySelector("#problem-form").addEventListener("submit", () =>
    setTimeout(() => { sessionStorage.busy = [
        document.querySelector("#problem-form").getAttribute("aria-busy"),
        document.querySelector("#reading").checkVisibility(),
        document.querySelector("#look").disabled] }, 200))"""


def test_it_says_that_it_reads_and_proposes_a_call(enter):
    page = (seen := enter()).page
    seen.open("/p/new")
    page.route("**/p/new", lambda route: (page.wait_for_timeout(800), route.continue_()))
    page.fill("#given-reference", REFERENCE)
    page.evaluate(NOTE)
    page.click("#look")
    expect(page.locator("#given-call")).to_have_value(
        "N, D = 1024, 512; relu_ref(torch.randn(N, D))"
    )
    assert page.evaluate("sessionStorage.busy") == "true,true,true"
    expect(page.locator("#look")).to_be_enabled()
    assert faults(page) == []
