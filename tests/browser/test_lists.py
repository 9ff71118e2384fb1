"""Lists as a person keeps them: views, archived campaigns, Back; and focus that no swap loses."""

import pytest
from playwright.sync_api import expect

from campaigns.models import ArchivedCampaign, Event
from campaigns.steps.lifecycle.control import stop
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from knowledge.models import SavedView
from tests.browser.look import look_at_all
from tests.campaigns.sample import PLATFORM, PROBLEM, build_sample
from tests.campaigns.swept import ROUND, build_swept

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What sends a request when it is used, each by a selector that outlives a swap: what is alike in
# name is told by its first two, and a page by its first five.
CONTROLS = """() => {
  const all = [...document.querySelectorAll(
    "main [hx-boost] a, main form[hx-get] :is(input, select, button), " +
    "main form :is([hx-get], [hx-post]) :is(input, select)")];
  const count = {};
  return all.filter(e => e.type !== "hidden" && e.checkVisibility()).flatMap(e => {
    const name = e.name || e.id;
    count[name] = (count[name] || 0) + 1;
    if (count[name] > 2) return [];
    return [e.id ? `#${CSS.escape(e.id)}` : `[name="${e.name}"][value="${e.value}"]`];
  }).slice(0, 5);
}"""
COUNT = (
    "document.addEventListener('htmx:afterSwap', () => { window.swaps = (window.swaps || 0) + 1; })"
)
CHANGE = """e => {
  if (e.type === "radio" || e.type === "checkbox") return e.click();
  if (e.tagName === "SELECT") e.selectedIndex = (e.selectedIndex + 1) % e.length;
  e.dispatchEvent(new Event("change", {bubbles: true}));
}"""
MOVING = ".htmx-request, .htmx-swapping, .htmx-settling"


def test_a_person_keeps_a_view_and_archives_by_keyboard(enter, finished):
    """Save, modify, reset; Back; the same for another person; archive five, undo: UX 1, 25, 30."""
    keys = [finished.pk]
    for number in range(4):
        made = create_campaign(Wish(PROBLEM, PLATFORM, "cuda", title=f"Softmax {number}"))
        stop(made)
        keys.append(made.pk)
    seen = enter()
    page = seen.page
    seen.open("/c/")
    page.select_option("#f-backend", "cuda")
    page.wait_for_url("**backend=cuda**")
    page.select_option("#f-sort", "name")
    page.wait_for_url("**sort=name**")
    page.click("#views-open")
    page.fill("#view-name", "CUDA by name")
    page.click("#view-keep")
    view = SavedView.objects.get()
    page.wait_for_url(f"**/c/?view={view.pk}&backend=cuda&sort=name")
    expect(page.locator(f"#view-{view.pk}")).to_have_attribute("aria-current", "true")
    expect(page.locator("#view-modified")).to_have_count(0)
    page.select_option("#f-state", "done")
    expect(page.locator("#view-modified")).to_be_visible()
    modified = page.url
    told = page.inner_text("#results")
    page.click("#view-reset")
    expect(page.locator("#view-modified")).to_have_count(0)
    page.go_back()
    expect(page.locator("#f-state")).to_have_value("done")
    expect(page.locator("#view-modified")).to_be_visible()
    page.go_back()
    expect(page.locator("#f-state")).to_have_value("")
    expect(page.locator("html > body > header nav")).to_be_visible()

    other = enter("vera")
    other.page.goto(modified.replace(f"view={view.pk}", "view="))
    rows = "[...document.querySelectorAll('#results tbody')].map(e => e.innerText).join()"
    assert other.page.evaluate(rows) in told
    expect(other.page.locator("#archive")).to_have_count(0)

    seen.open(f"/c/?view={view.pk}&{view.query}&cols=best,state")
    for key in keys:
        page.focus(f"input[name=c][value='{key}']")
        page.keyboard.press("Space")
    page.focus("#archive")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("5 campaigns archived.")
    assert "csrf" not in page.url
    expect(page.locator("tr[data-campaign]")).to_have_count(0)
    assert ArchivedCampaign.objects.count() == 5
    page.keyboard.press("u")
    expect(page.locator("tr[data-campaign]")).to_have_count(5)
    page.wait_for_url(f"**/c/?view={view.pk}&*cols=best*")
    assert not ArchivedCampaign.objects.exists()
    kinds = Event.objects.filter(kind__in=("archived", "unarchived"), by__username="kopt")
    assert sorted(kinds.values_list("kind", flat=True)) == ["archived"] * 5 + ["unarchived"] * 5
    seen.open(f"/c/?view={view.pk}&backend=cuda&state=archived&cols=evil,gain")
    assert (
        look_at_all(seen, {"none": "/c/?state=archived", "strange": page.url[len(seen.url) :]})
        == []
    )


ROWS = "[...document.querySelectorAll('main tbody')].map(e => e.innerText).join()"
# A list → what is chosen on it one after the other: a field and its value, a chip, or a column.
CHOSEN = {
    "/c/": ["#f-backend=cuda", "#f-op=softmax", "#f-sort=name", "owner"],
    "/c/{}/rounds/": ["accepted 5", "gain", "strategy"],
    "/x/strategies/": ["#s-backend=cuda", "#s-limit=memory"],
}


def choose(page, choice):
    """Make it, and wait for its address."""
    before, (field, _, value) = page.url, choice.partition("=")
    if value:
        page.select_option(field, value)
        if not page.locator("form[data-instant]").count():
            page.click("#s-go")
    elif page.locator(f".chip:text-is('{choice}')").count():
        page.click(f".chip:text-is('{choice}')")
    else:
        page.click("#columns-open")
        page.check(f"input[name=cols][value='{choice}']")
        page.click("#columns-show")
    page.wait_for_url(lambda url: url != before)
    expect(page.locator(MOVING)).to_have_count(0)


def test_the_address_of_a_list_is_all_of_its_state(enter, finished):
    """Filters, order and a column: another person reads the same rows, and back brings each state
    as a whole page. UX check 1; pages of the wiki are in `test_wiki.py`.
    """
    seen, other = enter(), enter("vera")
    page = seen.page
    for path, choices in CHOSEN.items():
        seen.open(path.format(finished.pk))
        states = [(page.url, page.evaluate(ROWS))]
        for choice in choices:
            choose(page, choice)
            states.append((page.url, page.evaluate(ROWS)))
        assert len(page.url) <= 2_000
        other.page.goto(page.url)
        assert other.page.evaluate(ROWS) == states[-1][1]
        for address, rows in states[-2::-1]:
            page.go_back()
            page.wait_for_url(address)
            expect(page.locator("html > body > header nav")).to_be_visible()
            assert page.evaluate(ROWS) == rows


def test_no_swap_loses_the_focus(enter, finished, monkeypatch):
    """Each control that sends a request keeps its focus: UX check 6."""
    for where, size in {
        "campaigns.views.campaigns.PER_PAGE": 1,
        "campaigns.views.round.PER_PAGE": 4,
        "campaigns.views.campaign.EVENTS_PER_PAGE": 5,
        "campaigns.views.home.EVENTS": 5,
    }.items():
        monkeypatch.setattr(where, size)
    live = build_sample(rounds=3, running=True)
    seen = enter()
    page, lost = seen.page, []
    page.add_init_script(COUNT)
    pages = [
        *("/c/", "/c/?page=2&op=softmax", f"/c/{finished.pk}/", f"/c/{live.pk}/"),
        *(f"/c/{finished.pk}/rounds/?page=2", f"/c/{finished.pk}/activity/?page=2"),
        *(f"/c/{build_swept().pk}/r/{ROUND}/sweep/", "/events/?page=2", "/c/new"),
        "/w/propose/?doc=docs/hardware/h200-sxm.md",
    ]
    for path in pages:
        seen.open(path)
        for control in page.evaluate(CONTROLS):
            found = page.locator(f"main {control}").first
            if not found.count() or not found.is_visible():
                continue  # an earlier control took it away
            found.focus()
            if found.evaluate("e => e.matches('a, button')"):
                page.keyboard.press("Enter")
            else:
                found.evaluate(CHANGE)
            page.wait_for_timeout(30)
            expect(page.locator(MOVING)).to_have_count(0)
            kept = page.evaluate("s => document.activeElement.matches(s)", control)
            gone = not page.locator(f"main {control}").count()
            inside = page.evaluate("document.activeElement.closest('main') !== null")
            if not kept and not (gone and inside):
                lost.append((path, control, page.evaluate("document.activeElement.outerHTML")[:80]))
        assert page.evaluate("window.swaps || 0"), path
    assert lost == []
