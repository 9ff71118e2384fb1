"""Curation as people meet it: propose, be refused, decide by two, answer flags, look back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.browser.conftest import PHONE
from tests.browser.full_wiki import X1, text_of
from tests.browser.look import faults
from tests.knowledge.conftest import BANDWIDTH, TDP

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NOTES = "docs/notes.md"
LINES = "# Notes\n\nRead by hand.\n\nbandwidth 4.9 TB/s\nfrom 4.8 to 5.1 TB/s, 5.1 kB, 5.1 GiB\n"
FLAG = "[data-flag=same_citation]"


def take(*lines):
    take_files({X1: text_of(*lines), "README.md": "# Index\n"}, ImportOptions(origin="small"))


@pytest.fixture
def curated(owner):
    """A wiki of one platform, and notes to cite; its bandwidth."""
    take(BANDWIDTH, TDP)
    take_files({NOTES: LINES}, ImportOptions(origin="notes"))
    return Spec.objects.get(metric="memory_bandwidth")


def fill(page, **texts):
    """The form's fields by name; selects by their value."""
    for name, text in texts.items():
        field = page.locator(f"#propose-{name}")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(text)
        else:
            field.fill(text)


def propose(seen, line, value, path="/w/propose/"):
    """Propose a bandwidth that stands on one line of the notes; the address of its page."""
    page = seen.page
    seen.open(path)
    fill(page, doc=NOTES)
    page.get_by_role("button", name="Open the document").click()
    page.check(f"[aria-label='First line {line}']")
    page.check(f"[aria-label='Last line {line}']")
    fill(page, platform="x-1", metric="memory_bandwidth", value=value, evidence="documented")
    fill(page, source_kind="vendor", source="notes", why="read there", rank="preferred")
    page.click("#do-propose")
    page.wait_for_url("**/w/s/**")
    return page.url


def propose_without_a_source(seen):
    """Be refused for no document, no lines and the wrong line; nothing that was typed is lost."""
    page = seen.page
    seen.open("/w/propose/")
    fill(page, platform="x-1", metric="memory_bandwidth", value="4.9 TB/s", why="I know")
    fill(page, evidence="documented", source_kind="vendor", source="nowhere")
    page.click("#do-propose")
    described = page.get_attribute("#propose-doc", "aria-describedby")
    expect(page.locator(f"#{described.split()[-1]}")).to_contain_text("no source is open")
    assert page.input_value("#propose-value") == "4.9 TB/s"
    assert page.input_value("#propose-why") == "I know"
    assert page.input_value("#propose-platform") == "x-1"
    assert faults(page) == []
    assert not Spec.objects.filter(state="proposed").exists()
    fill(page, doc=NOTES)
    page.get_by_role("button", name="Open the document").click()
    page.click("#do-propose")
    expect(page.locator("#propose-first_error")).to_contain_text("no lines are picked")
    page.check("[aria-label='First line 3']")
    page.click("#do-propose")
    refused = page.locator("#propose-first_error")
    expect(refused).to_contain_text("does not stand in the quoted lines")
    assert page.is_checked("[aria-label='First line 3']")
    page.check("[aria-label='First line 5']")
    page.check("[aria-label='Last line 5']")
    page.click("#do-propose")
    page.get_by_role("heading", name="memory_bandwidth of X 1").wait_for()
    assert "memory_bandwidth: 4.9 TB/s <- <gpu-wiki>/docs/notes.md:L5" in page.inner_text("main")
    assert faults(page) == []


def approve_from_the_queue(seen):
    """Tick the one that waits."""
    page = seen.page
    seen.open("/w/review/")
    assert faults(page) == []
    page.check("[aria-label='Approve x-1 memory_bandwidth: 4.9 TB/s']")
    page.click("#approve-ticked")
    assert "approved" in page.inner_text(".messages")
    page.get_by_role("heading", name="Nothing waits").wait_for()
    assert faults(page) == []


def answer_a_kept_citation(author, curator):
    """Another value on the same line waits for an answer, which everybody sees."""
    page = curator.page
    page.goto(first := propose(author, 6, "4.8 TB/s"))
    page.click("#do-approve")
    key = first.rstrip("/").split("/")[-1]
    second = propose(author, 6, "5.1 TB/s", f"/w/propose/?replaces={key}")
    author.page.reload()
    expect(author.page.locator(FLAG)).to_have_count(1)
    curator.open("/w/review/")
    expect(page.locator(f"tr {FLAG}")).to_have_count(1)
    expect(page.locator("tr [type=checkbox]")).to_have_count(0)
    page.goto(second)
    expect(page.locator(FLAG)).to_have_count(1)
    expect(page.locator("#do-approve")).to_have_count(0)
    assert "answer it first" in page.inner_text("#blocked")
    page.get_by_label("same line, misread before").check()
    page.locator(f"section{FLAG} textarea").fill("the second number is meant")
    page.get_by_role("button", name="Answer").click()
    page.wait_for_load_state()
    expect(page.locator(FLAG)).to_have_count(0)
    page.click("#do-approve")
    page.locator("[data-state=approved]").wait_for()
    assert "the second number is meant" in page.inner_text("tr[data-change=answered]")
    assert faults(page) == []


def cite_other_lines(seen, old):
    """The line of an approved value changed: cite it on another, after a wrong one."""
    take(BANDWIDTH.replace("4.8", "4.9"), TDP, "", "Elsewhere it says 4.8 TB/s.")
    page = seen.page
    seen.open(f"/w/s/{old.pk}/")
    assert page.locator("[data-cite-state=changed]").count() >= 1
    page.get_by_text("Cite it on other lines").click()
    key = old.flags.get().pk
    assert page.input_value(f"#recite-{key}-first") == "15"
    page.fill(f"#recite-{key}-first", "2")
    page.get_by_role("button", name="Cite these lines").click()
    page.wait_for_load_state()
    assert faults(page) == []
    assert page.input_value(f"#recite-{key}-first") == "2"
    page.fill(f"#recite-{key}-first", "18")
    page.fill(f"#recite-{key}-last", "18")
    page.get_by_role("button", name="Cite these lines").click()
    page.wait_for_load_state()
    expect(page.locator("[data-flag]")).to_have_count(0)
    assert f"4.8 TB/s <- <gpu-wiki>/{X1}:L18" in page.inner_text("#citation-text")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_value_is_proposed_reviewed_and_answered_for(enter, curated, scripts):
    """No value without a source; a curator approves from the queue, answers a kept citation before
    it can be approved, and cites a changed line anew. UX checks 2, 8, 16 and 17.
    """
    author = enter("enzo", java_script_enabled=scripts)
    curator = enter("cora", java_script_enabled=scripts)
    propose_without_a_source(author)
    approve_from_the_queue(curator)
    answer_a_kept_citation(author, curator)
    cite_other_lines(curator, curated)


def test_two_pairs_of_eyes_and_full_memory(enter, curated):
    """While a person picks lines and types, the quote and warnings follow and the focus stays. An
    author has no button to approve; the second of two curators is told who was first; who, when,
    why and what stay readable after a retirement and its return. UX checks 6, 16 and 19.
    """
    author = enter("cora")
    page = author.page
    author.open(f"/w/propose/?doc={NOTES}")
    page.check("[aria-label='First line 5']")
    page.locator("#quote pre").get_by_text("bandwidth 4.9 TB/s").wait_for()
    page.check("[aria-label='Last line 6']")
    page.locator("#quote pre[data-locator='L5-L6']").wait_for()
    fill(page, platform="x-1", metric="memory_bandwidth", value="900 TB/s")
    page.press("#propose-value", "Tab")
    page.locator("#checks [data-warning=range]").wait_for()
    assert page.evaluate("document.activeElement.id") == "propose-qualifiers"

    address = propose(author, 5, "4.9 TB/s")
    expect(page.locator("#do-approve")).to_have_count(0)
    assert "another curator decides" in page.inner_text("#blocked")
    first, second = enter("carl").page, enter().page
    first.goto(address)
    second.goto(address)
    first.fill("#approve-why", "read the same")
    first.click("#do-approve")
    with second.expect_navigation() as gone:
        second.click("#do-approve")
    assert gone.value.status == 409
    assert "carl was first: approved at" in second.inner_text("#refusal")
    assert faults(second) == []
    second.get_by_role("link", name="Back to memory_bandwidth").click()
    second.wait_for_url(address)

    first.click("#open-retire")
    first.select_option("#retire-successor", label="x-1 memory_bandwidth: 4.8 TB/s")
    first.fill("#retire-why", "the old one was right")
    first.click("#do-retire")
    first.click("#open-restore")
    first.fill("#restore-why", "no, it was not")
    first.click("#do-restore")
    first.locator("tr[data-change=restored]").wait_for()
    first.wait_for_load_state()
    remembered(first.locator("tr[data-change]"))
    expect(first.locator("#do-approve")).to_have_count(0)  # it is carl's proposal now


def remembered(rows):
    """What became of the value, newest first."""
    told = {row.get_attribute("data-change"): row.inner_text() for row in rows.all()}
    assert [*told] == ["restored", "retired", "approved", "proposed"]
    for words, who, why in zip(
        told.values(), ["carl", "carl", "carl", "cora"],
        ["no, it was not", "the old one was right", "read the same", "read there"], strict=True,
    ):  # fmt: skip
        assert who in words
        assert why in words
        assert "4.9 TB/s" in words
    expect(rows.locator("time")).to_have_count(4)


def test_a_curator_decides_on_a_phone(enter, curated):
    """By touch, dark, at 375 px: every page of curation fits with all that opens, one value is
    returned with a question and another approved. UX check 24.
    """
    author = enter("enzo")
    first, second = propose(author, 5, "4.9 TB/s"), propose(author, 6, "5.1 TB/s")
    take(BANDWIDTH.replace("4.8", "4.7"), TDP)
    seen = enter("cora", viewport=PHONE, has_touch=True, color_scheme="dark")
    page = seen.page
    for path in (
        "review/",
        "propose/",
        f"propose/?doc={X1}&first=15",
        f"propose/?replaces={curated.pk}",
    ):
        open_all(seen, f"{seen.url}/w/{path}")
    open_all(seen, f"{seen.url}/w/s/{curated.pk}/")
    open_all(seen, second)
    page.fill("#return-why", "which of the two?")
    page.locator("#do-return").tap()
    page.locator("[data-state=returned]").wait_for()
    open_all(seen, first)
    page.locator("#do-approve").tap()
    page.locator("[data-state=approved]").wait_for()


def open_all(seen, address):
    """Tap on everything that folds, and see that it fits."""
    assert seen.page.goto(address).status == 200
    closed = seen.page.locator("main details:not([open]) > summary")
    while closed.count():
        closed.first.tap()
    assert faults(seen.page) == []
