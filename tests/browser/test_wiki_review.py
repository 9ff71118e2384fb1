"""Curation as people meet it: propose, be refused, decide by two, answer flags, look back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.browser.conftest import PASSWORD, Visit
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, TDP

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

X1 = "docs/hardware/x-1.md"
NOTES = "docs/notes.md"
LINES = "# Notes\n\nRead by hand.\n\nbandwidth 4.9 TB/s\nfrom 4.8 to 5.1 TB/s, 5.1 kB, 5.1 GiB\n"
UNTIED = """[...document.querySelectorAll('main [aria-invalid=true]')].filter(e =>
  !(e.getAttribute('aria-describedby') || '').split(' ').some(id =>
    id.endsWith('_error') && document.getElementById(id))).map(e => e.name || e.id)"""
UNLABELLED = """
  [...document.querySelectorAll('main :is(input, select, textarea):not([type=hidden])')]
  .filter(e => !e.labels.length && !e.ariaLabel).map(e => e.name)"""
SKIPPED = """[...document.querySelectorAll('main :is(h1, h2, h3)')].map(e => +e.tagName[1])
  .filter((level, n, all) => n && level > all[n - 1] + 1).length"""
SMALL = """[...document.querySelectorAll(
  "main :is(button, .button, summary, select, label:has([type=radio]), label:has([type=checkbox]))"
)].map(e => e.getBoundingClientRect())
  .filter(r => r.width && (r.height < 24 || r.width < 24)).length"""
OVER = "document.documentElement.scrollWidth - innerWidth"


def wiki_texts(*lines):
    head = f"# X 1\n\n{PLATFORM}\n## Specs\n\n"
    return {X1: head + "\n".join(lines) + "\n", "README.md": "# Index\n"}


@pytest.fixture
def curated(live_server, transactional_db):
    """A wiki of one platform, notes to cite, and a person of each role; the server's address."""
    take_files(wiki_texts(BANDWIDTH, TDP), ImportOptions(origin="small"))
    take_files({NOTES: LINES}, ImportOptions(origin="notes"))
    people = {"vera": "viewer", "enzo": "engineer", "cora": "curator", "carl": "curator"}
    for name, role in people.items():
        user = User.objects.create_user(name, password=PASSWORD)
        user.groups.add(Group.objects.get(name=role))
    return live_server.url


@pytest.fixture
def enter(chromium, curated):
    """A visit of a person who is logged in; options are those of a browser context."""
    contexts = []

    def make(name, **options):
        contexts.append(chromium.new_context(**options))
        seen = Visit(contexts[-1], curated)
        seen.open("/login/")
        seen.page.fill("#id_username", name)
        seen.page.fill("#id_password", PASSWORD)
        seen.page.get_by_role("button", name="Log in").click()
        seen.page.wait_for_url(curated + "/")
        return seen

    yield make
    for context in contexts:
        context.close()


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


def look_at(page):
    """What every page has to hold: one h1, headings in order, labels, and errors tied to fields."""
    expect(page.locator("h1")).to_have_count(1)
    assert page.locator("main .primary").count() <= 1
    assert (page.evaluate(UNLABELLED), page.evaluate(UNTIED), page.evaluate(SKIPPED)) == ([], [], 0)


def post(page, path, **data):
    """A raw POST with the cookie and token of whoever is logged in; the HTTP status."""
    return page.evaluate(
        """async ([path, data]) => {
          const token = document.querySelector('[name=csrfmiddlewaretoken]').value;
          const body = new URLSearchParams({...data, csrfmiddlewaretoken: token});
          return (await fetch(path, {method: 'POST', body})).status; }""",
        [path, data],
    )


@pytest.mark.parametrize("scripts", [True, False])
def test_a_value_without_a_source_is_not_taken(enter, scripts):
    seen = enter("enzo", java_script_enabled=scripts)
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
    look_at(page)
    assert not Spec.objects.filter(state="proposed").exists()
    fill(page, doc=NOTES)
    page.get_by_role("button", name="Open the document").click()
    page.click("#do-propose")
    expect(page.locator("#propose-first_error")).to_contain_text("no lines are picked")
    page.check("[aria-label='First line 3']")
    page.click("#do-propose")
    expect(page.locator("#propose-first_error")).to_contain_text(
        "does not stand in the quoted lines"
    )
    assert page.is_checked("[aria-label='First line 3']")
    page.check("[aria-label='First line 5']")
    page.check("[aria-label='Last line 5']")
    page.click("#do-propose")
    page.get_by_role("heading", name="memory_bandwidth of X 1").wait_for()
    assert "memory_bandwidth: 4.9 TB/s <- <gpu-wiki>/docs/notes.md:L5" in page.inner_text("main")
    look_at(page)


def test_it_quotes_and_warns_at_once(enter):
    seen = enter("enzo")
    seen.open(f"/w/propose/?doc={NOTES}")
    seen.page.check("[aria-label='First line 5']")
    seen.page.locator("#quote pre").get_by_text("bandwidth 4.9 TB/s").wait_for()
    seen.page.check("[aria-label='Last line 6']")
    seen.page.locator("#quote pre[data-locator='L5-L6']").wait_for()
    fill(seen.page, platform="x-1", metric="memory_bandwidth", value="900 TB/s")
    seen.page.press("#propose-value", "Tab")
    seen.page.locator("#checks [data-warning=range]").wait_for()
    assert seen.page.evaluate("document.activeElement.id") == "propose-qualifiers"
    assert seen.errors == []


@pytest.mark.parametrize("scripts", [True, False])
def test_a_changed_value_with_a_kept_citation_waits_for_an_answer(enter, scripts):
    author = enter("enzo", java_script_enabled=scripts)
    first = propose(author, 6, "4.8 TB/s")
    curator = enter("cora", java_script_enabled=scripts)
    page = curator.page
    page.goto(first)
    page.click("#do-approve")
    key = first.rstrip("/").split("/")[-1]
    second = propose(author, 6, "5.1 TB/s", f"/w/propose/?replaces={key}")
    flag = "[data-flag=same_citation]"
    author.page.reload()
    expect(author.page.locator(flag)).to_have_count(1)
    page.goto(second)
    expect(page.locator(flag)).to_have_count(1)
    expect(page.locator("#do-approve")).to_have_count(0)
    assert "has to be answered first" in page.inner_text("#blocked")
    curator.open("/w/review/")
    expect(page.locator(f"tr {flag}")).to_have_count(1)
    expect(page.locator("tr [type=checkbox]")).to_have_count(0)
    if scripts:
        assert post(page, f"{second}approve/") == 409
    page.goto(second)
    page.get_by_label("same line, misread before").check()
    page.locator(f"section{flag} textarea").fill("the second number is meant")
    page.get_by_role("button", name="Answer").click()
    page.wait_for_load_state()
    expect(page.locator(flag)).to_have_count(0)
    page.click("#do-approve")
    page.locator("[data-state=approved]").wait_for()
    assert "the second number is meant" in page.inner_text("tr[data-change=answered]")
    look_at(page)


def test_two_pairs_of_eyes_and_full_memory(enter):
    author = enter("cora")
    address = propose(author, 5, "4.9 TB/s")
    expect(author.page.locator("#do-approve")).to_have_count(0)
    assert "another curator decides" in author.page.inner_text("#blocked")
    assert post(author.page, f"{address}approve/") == 403
    assert Spec.objects.get(shown="4.9 TB/s").state == "proposed"
    page = enter("carl").page
    page.goto(address)
    page.fill("#approve-why", "read the same")
    page.click("#do-approve")
    page.click("#open-retire")
    page.select_option("#retire-successor", label="x-1 memory_bandwidth: 4.8 TB/s")
    page.fill("#retire-why", "the old one was right")
    page.click("#do-retire")
    page.click("#open-restore")
    page.fill("#restore-why", "no, it was not")
    page.click("#do-restore")
    page.locator("tr[data-change=restored]").wait_for()
    page.wait_for_load_state()
    rows = page.locator("tr[data-change]")
    told = [rows.nth(n).inner_text() for n in range(rows.count())]
    said = [rows.nth(n).get_attribute("data-change") for n in range(rows.count())]
    assert said == ["restored", "retired", "approved", "proposed"]
    for words, who, why in zip(
        told, ["carl", "carl", "carl", "cora"],
        ["no, it was not", "the old one was right", "read the same", "read there"], strict=True,
    ):  # fmt: skip
        assert who in words
        assert why in words
        assert "4.9 TB/s" in words
    expect(page.locator("tr[data-change] time")).to_have_count(4)
    expect(page.locator("#do-approve")).to_have_count(0)  # it is carl's proposal now
    assert post(page, f"{address}approve/") == 403


def test_the_second_of_two_curators_is_told(enter):
    address = propose(enter("enzo"), 5, "4.9 TB/s")
    first, second = enter("cora").page, enter("carl").page
    first.goto(address)
    second.goto(address)
    first.click("#do-approve")
    with second.expect_navigation() as gone:
        second.click("#do-approve")
    assert gone.value.status == 409
    assert "cora was first: approved at" in second.inner_text("#refusal")
    look_at(second)
    second.get_by_role("link", name="Back to memory_bandwidth").click()
    second.wait_for_url(address)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_changed_line_is_answered_by_other_lines(enter, scripts):
    changed = [BANDWIDTH.replace("4.8", "4.9"), TDP, "", "Elsewhere it says 4.8 TB/s."]
    take_files(wiki_texts(*changed), ImportOptions(origin="small"))
    old = Spec.objects.get(metric="memory_bandwidth", state="approved")
    page = enter("cora", java_script_enabled=scripts).page
    page.goto(f"{page.url}w/s/{old.pk}/")
    assert page.locator("[data-cite-state=changed]").count() >= 1
    page.get_by_text("Cite it on other lines").click()
    key = old.flags.get().pk
    assert page.input_value(f"#recite-{key}-first") == "15"
    page.fill(f"#recite-{key}-first", "2")
    page.get_by_role("button", name="Cite these lines").click()
    page.wait_for_load_state()
    look_at(page)
    assert page.input_value(f"#recite-{key}-first") == "2"
    page.fill(f"#recite-{key}-first", "18")
    page.fill(f"#recite-{key}-last", "18")
    page.get_by_role("button", name="Cite these lines").click()
    page.wait_for_load_state()
    expect(page.locator("[data-flag]")).to_have_count(0)
    assert f"4.8 TB/s <- <gpu-wiki>/{X1}:L18" in page.inner_text("#citation-text")


@pytest.mark.parametrize("scripts", [True, False])
def test_the_queue_approves_what_is_sound(enter, scripts):
    propose(enter("enzo"), 5, "4.9 TB/s")
    page = enter("cora", java_script_enabled=scripts).page
    page.goto(f"{page.url}w/review/")
    look_at(page)
    page.check("[aria-label='Approve x-1 memory_bandwidth: 4.9 TB/s']")
    page.click("#approve-ticked")
    assert "approved" in page.inner_text(".messages")
    page.get_by_role("heading", name="Nothing waits").wait_for()
    look_at(page)


def test_it_copies_the_citation_by_mouse_and_by_keyboard(enter):
    spec = Spec.objects.get(metric="memory_bandwidth")
    text = f"memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/{X1}:L15"
    seen = enter("vera", permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    seen.open(f"/w/s/{spec.pk}/")
    for press in (lambda button: button.click(), lambda button: button.press("Enter")):
        page.evaluate("navigator.clipboard.writeText('')")
        press(page.locator("[data-copy]"))
        page.locator("#live").get_by_text("Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == text
        page.get_by_role("button", name="Copy citation").wait_for()
    assert seen.errors == []
    plain = enter("vera", java_script_enabled=False)
    plain.open(f"/w/s/{spec.pk}/")
    assert plain.page.inner_text("#citation-text") == text
    expect(plain.page.locator("[data-copy]")).to_be_hidden()
    plain.page.get_by_role("link", name=f"{X1}, L15").click()
    plain.page.wait_for_url("**#L15")
    assert "4.8 TB/s" in plain.page.inner_text("#L15")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_screen_and_decides_there(enter, scheme):
    author = enter("enzo")
    first, second = propose(author, 5, "4.9 TB/s"), propose(author, 6, "5.1 TB/s")
    small = {"viewport": {"width": 375, "height": 812}, "has_touch": True, "color_scheme": scheme}
    take_files(wiki_texts(BANDWIDTH.replace("4.8", "4.7"), TDP), ImportOptions(origin="small"))
    seen = enter("cora", **small)
    old = Spec.objects.get(metric="memory_bandwidth", state="approved")
    paths = [first.split("/w/")[1], second.split("/w/")[1], f"s/{old.pk}/", "review/", "propose/"]
    for path in [*paths, f"propose/?doc={X1}&first=15", f"propose/?replaces={old.pk}"]:
        assert seen.open(f"/w/{path}").status == 200
        closed = seen.page.locator("main details:not([open]) > summary")
        while closed.count():
            closed.first.tap()
        assert seen.page.evaluate(OVER) <= 0, path
        assert seen.page.evaluate(SMALL) == 0, path
        look_at(seen.page)
    seen.page.goto(second)
    seen.page.locator("#open-return").tap()
    seen.page.fill("#return-why", "which of the two?")
    seen.page.locator("#do-return").tap()
    seen.page.locator("[data-state=returned]").wait_for()
    seen.page.goto(first)
    seen.page.locator("#do-approve").tap()
    seen.page.locator("[data-state=approved]").wait_for()
    assert (seen.errors, seen.strange) == ([], [])


def test_it_tells_a_viewer_who_may(enter):
    seen = enter("vera")
    assert seen.open("/w/propose/").status == 403
    assert "engineer, curator, lead" in seen.page.inner_text("main")
    look_at(seen.page)
    spec = Spec.objects.get(metric="tdp")
    seen.open(f"/w/s/{spec.pk}/")
    assert seen.page.locator("main button:visible").all_inner_texts() == ["Copy citation"]
    assert post(seen.page, f"/w/s/{spec.pk}/retire/", why="I say so") == 403
