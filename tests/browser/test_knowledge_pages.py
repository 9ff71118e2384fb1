"""Every page of the wiki, of lessons and of the search, at a desk and on a phone."""

import pytest

from knowledge.experience.lessons.decide import approve_lesson, propose_lesson
from knowledge.experience.lessons.gaps import NewGap, ask_gap
from tests.browser.conftest import person
from tests.browser.full_wiki import build_full_wiki
from tests.browser.look import look_at, look_at_all, unseen
from tests.browser.test_search import learn
from tests.knowledge.experience.lessons.conftest import attempt, new_lesson

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def learned():
    """Lessons, a disagreement, a question and what a search finds; name of a page → its address."""
    learn()
    enzo, cora = person("enzo"), person("cora")
    entry = attempt(params={"num_warps": 8})
    lesson = propose_lesson(new_lesson(evidence=[str(entry.uuid)]), enzo)
    approve_lesson(lesson, cora, "seen it too")
    attempt("regression", -0.08, gain_low=-0.1, gain_high=-0.06, params={"num_warps": 8})
    waiting = new_lesson(takeaway="Never cast the sum.", avoid=True, evidence=[str(entry.uuid)])
    proposed = propose_lesson(waiting, enzo)
    own = propose_lesson(new_lesson(takeaway="Cast it late."), person("kopt"))
    ask_gap(NewGap("Does a persistent kernel pay for skinny matmuls?", query="skinny"), enzo)
    first, second = lesson.disagreements.get(), entry.disagreements.get()
    return {
        "lessons": "/x/lessons/",
        "no lesson": "/x/lessons/?q=nothing",
        "lesson": lesson.get_absolute_url(),
        "proposed": proposed.get_absolute_url(),
        "own lesson": f"{own.get_absolute_url()}edit/",
        "new lesson": f"/x/lessons/new/?entry={entry.uuid}",
        "gaps": "/x/gaps/?q=skinny&op=matmul",
        "disagreements": "/x/disagreements/",
        "against a lesson": first.get_absolute_url(),
        "against an attempt": second.get_absolute_url(),
        "experience": "/x/",
        "attempt": f"/x/e/{entry.uuid}/",
        "imports of experience": "/x/imports/",
        "review of a lesson": "/w/review/",
        "search": "/search/",
        "found": "/search/?q=padding",
        "near": "/search/?q=paddign&op=matmul",
        "search refused": "/search/?op=bogus",
    }


@pytest.mark.parametrize("build", [build_full_wiki, learned])
def test_every_page_fits_and_axe_holds_nothing_against_it(enter, build):
    """At 1280 and 375 px, light and dark: no overflow, targets to hit, one h1, labels, WCAG 2.2 AA.

    On every state of values, documents, imports, lessons and searches, on what a form says of empty
    fields, and on what a person without the role is told.
    """
    seen, pages = enter(), build()
    path, button, space = {
        build_full_wiki: ("/w/propose/", "propose", ("knowledge:", "experience:strateg")),
        learned: ("/x/lessons/new/", "record", "experience:"),
    }[build]
    missed = unseen(seen, pages, lambda name, _: name.startswith(space))
    assert {name for name in missed if "strateg" not in name or build is not learned} == set()
    found = look_at_all(seen, pages)
    seen.open(path)
    seen.page.click(f"#do-{button}")
    found += look_at(seen.page, f"{path}, refused")
    viewer = enter("vera")
    assert viewer.open(path).status == 403
    found += look_at(viewer.page, f"{path}, not allowed")
    assert found == []
