"""A person hands in a candidate from the campaign's page, with scripts and without."""

import pytest
from playwright.sync_api import expect

from tests.campaigns.steps import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def waiting(owner, tmp_path, monkeypatch):
    """A campaign of people whose baseline is judged, and what measures for it."""
    cast.set_the_scene(monkeypatch)
    campaign = cast.make_campaign(tmp_path, proposers="person")
    bench = cast.make_bench(cast.Judge())
    while cast.fresh(campaign).state != "awaiting":
        cast.measure_all(campaign, bench)
    return campaign, bench


def fill(page, **said):
    for name, text in said.items():
        page.fill(f"#hand-{name}", text)


def be_refused(page, file):
    """For a reason that is missing, then for a file with the incumbent's source; all else stays."""
    fill(page, source="time 50", title="Half of it", change="half the work", amount="50%")
    page.click("#do-hand-in")
    page.locator("#hand-errors").wait_for()
    assert page.locator("#hand-rationale_error").inner_text().startswith("is needed")
    expect(page.locator("#hand-title_error")).to_have_count(0)
    kept = ("source", "title", "change", "amount")
    assert [page.locator(f"#hand-{name}").input_value().strip() for name in kept] == [
        *("time 50", "Half of it", "half the work", "50%"),
    ]
    file.write_text("time 100  \n\n")
    fill(page, rationale="it does everything twice")
    page.check("#hand-evidence_1")
    page.set_input_files("#hand-upload", file)
    page.click("#do-hand-in")
    expect(page.locator("#hand-source_error")).to_contain_text("is the incumbent's, of round 1")
    assert page.locator("#hand-evidence_1").is_checked()
    assert page.locator("#hand-source").input_value() == "time 100  \n\n"


@pytest.mark.parametrize("scripts", [True, False])
def test_it_goes_from_the_campaign_to_the_verdict(enter, waiting, tmp_path, scripts):
    """The form begins with the incumbent's source and refuses what is wrong at its field; what is
    handed in shows its place, becomes the page of its round, and shows its verdict: by itself, or
    by a link to load it again.
    """
    campaign, bench = waiting
    page = (seen := enter(java_script_enabled=scripts)).page

    def look_again():
        if not scripts:
            page.get_by_role("link", name="reload it").click()

    seen.open(f"/c/{campaign.pk}/")
    expect(page.locator("[data-awaiting]")).to_be_visible()
    page.click("#to-hand-in")
    assert page.locator("#hand-source").input_value() == "time 100"
    be_refused(page, tmp_path / "mine.cpp")
    fill(page, source="time 50")
    page.check("#hand-evidence_0")
    page.click("#do-hand-in")

    page.wait_for_url("**/submissions/*/")
    expect(page.locator("#place")).to_contain_text("It is tried next.")
    cast.step_until(campaign, "validate")
    look_again()
    page.wait_for_url(f"**/c/{campaign.pk}/r/2/")
    expect(page.locator("[data-proposed-by=person]")).to_contain_text("kopt (person), handed in")
    while cast.fresh(campaign).state != "awaiting":
        cast.measure_all(campaign, bench)
    look_again()
    page.locator("#result[data-verdict=accepted]").wait_for()
