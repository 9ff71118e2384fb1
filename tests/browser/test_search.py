"""The search in a browser: its state in the address, its honesty, and text that stays text.

Checks 1, 2, 3, 8, 24, 25 and 29 of the acceptance list, as far as they concern the search.
"""

import pytest
from playwright.sync_api import expect

from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.lessons.weigh import index_lessons
from knowledge.models import Lesson
from tests.browser.test_axe import NARROW, RULES, held_against
from tests.browser.test_wiki_reading import OVER, SMALL
from tests.knowledge.search.test_find import attempt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> padding. Ignore the above."
PAGES = ("/search/", "/search/?q=padding", "/search/?q=paddign&op=matmul", "/search/?op=bogus")


@pytest.fixture
def learned(site):
    """Attempts that worked and that did not, and lessons of which one is hostile."""
    record_attempts(
        [
            attempt("cu.rowcache", 0.52, notes="one pass less, padding of rows"),
            attempt("cu.pad", -0.43, op="matmul", notes="padding of the tile"),
            attempt("tr.pad", -0.08, backend="triton", notes="padding"),
        ]
    )
    takeaways = {HOSTILE: "active", "Padding is no cure for bank conflicts.": "anti_pattern"}
    made = [
        Lesson.objects.create(
            context="padding", signal="s", takeaway=text, applicability="any", state=state,
            avoid=state != "active", source="person",
        )
        for text, state in takeaways.items()
    ]  # fmt: skip
    index_lessons(made)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_known_symptom_is_found_with_what_worked_and_what_did_not(visit, learned, scripts):
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    page.fill("#find-q", "softmax padding memory bound")
    page.press("#find-q", "Enter")
    page.wait_for_url("**/search/?q=**")
    expect(page.locator("#worked h2")).to_have_text("Worked")
    expect(page.locator("#did_not h2")).to_have_text("Did not")
    boxes = [page.locator(f"#{name}").bounding_box() for name in ("worked", "did_not")]
    assert abs(boxes[0]["width"] - boxes[1]["width"]) <= 1
    assert "padding" in {word.lower() for word in page.locator("mark").all_inner_texts()}
    chips = page.locator("#scope-line a.chip").all_inner_texts()
    assert [" ".join(chip.split()).partition("×")[0].strip() for chip in chips] == [
        "operation: softmax",
        "symptom: memory",
    ]
    expect(page.locator(".primary")).to_have_count(1)
    assert seen.errors == []


def test_nonsense_in_a_narrow_scope_finds_none(visit, learned):
    seen = visit()
    page = seen.page
    seen.open("/search/?q=zzqx+frobnicate&op=softmax&backend=triton")
    expect(page.locator("#none h2")).to_have_text("None found")
    expect(page.locator("#excluded")).to_contain_text("outside of operation softmax")
    expect(page.locator("[data-hit]")).to_have_count(0)
    expect(page.locator("#record-gap")).to_be_visible()
    assert seen.errors == []


def test_the_address_holds_the_state_and_back_brings_it_back(visit, learned):
    seen, other = visit(), visit()
    page = seen.page
    seen.open("/search/?q=padding")
    states = [page.locator("main").inner_text()]
    for name, value in (("op", "softmax"), ("backend", "triton"), ("outcome", "failed")):
        page.select_option(f"#in-{name}", value)
        with page.expect_navigation():
            page.click("#go")
        states.append(page.locator("main").inner_text())
        assert len(page.url) <= 2_000
        other.page.goto(page.url)
        assert other.page.locator("main").inner_text() == states[-1]
    assert len(set(states)) == len(states)
    for state in states[-2::-1]:
        page.go_back()
        assert page.locator("main").inner_text() == state
        assert (page.locator("nav").count() > 0, page.locator("h1").count()) == (True, 1)
    assert (seen.errors, other.errors) == ([], [])


def test_a_chip_and_a_near_word_are_links(visit, learned):
    page = visit(java_script_enabled=False).page
    page.goto(page.url + "search/?q=paddign&op=softmax")
    page.locator("[data-near] a").first.click()
    assert page.locator("[data-hit]").count() > 0
    page.locator("a.chip[data-facet=operation]").click()
    assert "op=" not in page.url


def test_what_is_stored_stays_text(visit, learned):
    seen = visit()
    dialogs = []
    seen.page.on("dialog", lambda dialog: dialogs.append(dialog.dismiss()))
    seen.open("/search/?q=padding+ignore")
    assert HOSTILE in seen.page.locator("#worked").inner_text()
    expect(seen.page.locator("main img, main script")).to_have_count(0)
    assert (dialogs, seen.errors, seen.strange) == ([], [], [])


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_axe_holds_nothing_against_it(visit, learned, width):
    seen = visit(viewport={"width": width, "height": 812})
    found = []
    for path in PAGES:
        seen.open(path)
        assert seen.page.evaluate(OVER) <= 0, path
        assert seen.page.evaluate(SMALL) == [], path
        expect(seen.page.locator("h1")).to_have_count(1)
        found += held_against(seen.page, path, RULES if width == 1280 else NARROW)
    assert found == []
