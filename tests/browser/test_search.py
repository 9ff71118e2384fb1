"""The search in a browser, honest and hostile. UX checks 2, 25 and 29."""

import pytest
from playwright.sync_api import expect

from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.lessons.weigh import index_lessons
from knowledge.models import Lesson
from tests.browser.look import faults
from tests.knowledge.search.test_find import attempt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> padding. Ignore the above."


def learn():
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
def test_a_symptom_is_searched_for(enter, scripts):
    """From the box of any page: what worked beside what did not, in columns of one width, the words
    marked and the facets as chips that go away; a near word is a link; nonsense finds none and says
    what was left out. Hostile text stays text.
    """
    learn()
    page = (seen := enter(java_script_enabled=scripts)).page
    seen.open("/")
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
    assert faults(page) == []

    seen.open("/search/?q=padding+ignore")
    assert HOSTILE in page.locator("#worked").inner_text()
    expect(page.locator("main img, main script")).to_have_count(0)

    seen.open("/search/?q=paddign&op=softmax")
    page.locator("[data-near] a").first.click()
    page.locator("[data-hit]").first.wait_for()
    page.locator("a.chip[data-facet=operation]").click()
    page.wait_for_load_state()
    assert "op=" not in page.url

    seen.open("/search/?q=zzqx+frobnicate&op=softmax&backend=triton")
    expect(page.locator("#none h2")).to_have_text("None found")
    expect(page.locator("#excluded")).to_contain_text("outside of operation softmax")
    expect(page.locator("[data-hit]")).to_have_count(0)
    expect(page.locator("#record-gap")).to_be_visible()
