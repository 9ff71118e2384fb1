"""The review queue."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from knowledge.curation.propose import CitedLines, propose
from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.lookup.usage import SpecUse, register, unregister
from knowledge.models import Flag, Spec, SpecState
from tests.knowledge.conftest import BANDWIDTH, TDP, facts


@pytest.fixture
def three(x1, note, engineer, curator):
    """A sound proposal, one whose value is odd, and one of the curator."""
    sound = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "a")
    odd = propose(x1, facts("5.1 kB", metric="l2_size"), CitedLines(note, 6, 6), engineer, "b")
    own = propose(
        x1, facts("4.8 GiB", metric="memory_capacity"), CitedLines(note, 6, 6), curator, "c"
    )
    return sound, odd, own


def body(answer):
    return unescape(answer.content.decode())


def rows(page):
    return [row.split("</tr>")[0] for row in page.split('<tr data-spec="')[1:]]


def states(*specs):
    return [Spec.objects.get(pk=spec.pk).state for spec in specs]


def test_it_lists_what_waits_oldest_first(as_, curator, three, wiki, page_text):
    old = timezone.now() - timedelta(days=3)
    Flag.objects.create(spec=Spec.objects.get(metric="tdp"), kind="lost", note="gone")
    Flag.objects.filter(spec__metric="tdp").update(raised_at=old)
    found = rows(body(as_(curator).get("/w/review/")))
    tdp = Spec.objects.get(metric="tdp")
    assert [int(row.split('"')[0]) for row in found] == [tdp.pk, *(spec.pk for spec in three)]
    assert "3\xa0days" in found[0]
    assert 'data-flag="lost"' in found[0]
    assert "enzo" in found[1]
    assert "a command" in found[0]


def test_it_offers_only_what_is_sound(as_, curator, three):
    found = rows(body(as_(curator).get("/w/review/")))
    assert ['type="checkbox"' in row for row in found] == [True, False, False]
    assert "warning: 5.1 kB is outside" in found[1]
    assert "another curator decides" in found[2]


def test_it_warns_of_a_value_that_contradicts_an_approved_one(as_, curator, engineer, x1, note):
    odd = propose(x1, facts("5.1 TB/s"), CitedLines(note, 6, 6), engineer, "another sheet")
    (row,) = rows(body(as_(curator).get("/w/review/")))
    assert "warning: 5.1 TB/s here, but 4.8 TB/s is approved, from sheet" in row
    assert 'type="checkbox"' not in row
    page = body(as_(curator).get(f"/w/s/{odd.pk}/"))
    assert "Contradicts an approved value" in page


def test_it_approves_what_is_ticked_and_reports_the_rest(as_, curator, three):
    data = {"spec": [spec.pk for spec in three]}
    page = body(as_(curator).post("/w/review/", data, follow=True))
    assert states(*three) == ["approved", "proposed", "proposed"]
    assert "memory_bandwidth: 4.9 TB/s: approved." in page
    assert "l2_size: 5.1 kB: not approved; warning" in page
    assert "memory_capacity: 4.8 GiB: not approved; You cannot approve your own proposals" in page


def test_of_rivals_that_are_ticked_one_is_approved(as_, curator, second_curator, three, x1, note,
                                                   engineer):  # fmt: skip
    rival = propose(x1, facts("4.8 TB/s"), CitedLines(note, 6, 6), engineer, "another")
    page = as_(curator).get("/w/review/").content.decode()
    seen = dict(re.findall(r'name="(seen-\d+)" value="(\d+)"', page))
    assert f"seen-{rival.pk}" in seen
    as_(second_curator).post("/w/review/", {"spec": three[0].pk} | seen)
    page = body(as_(curator).post("/w/review/", {"spec": rival.pk} | seen, follow=True))
    assert states(three[0], rival) == ["approved", "proposed"]
    assert "memory_bandwidth: 4.8 TB/s: not approved; carl was first: approved at" in page


def test_a_waived_warning_holds_nothing_up(as_, second_curator, curator, three):
    as_(curator).post(f"/w/s/{three[1].pk}/waive/", {"constraint": "range", "reason": "a toy"})
    as_(second_curator).post("/w/review/", {"spec": three[1].pk})
    assert states(three[1]) == ["approved"]


def test_a_flag_or_a_changed_citation_holds_it_up(as_, second_curator, three):
    Flag.objects.create(spec=three[0], kind="same_citation")
    page = body(as_(second_curator).post("/w/review/", {"spec": three[0].pk}, follow=True))
    assert states(three[0]) == ["proposed"]
    assert "flag ‘value changed, citation kept’ is open" in page


def test_one_that_fails_in_the_step_leaves_nothing_behind(as_, x1, note, engineer, curator):
    """Two alternatives of rank normal: neither would leave a preferred value."""
    alone = facts("5.1 GiB", metric="memory_capacity", rank="normal")
    spec = propose(x1, alone, CitedLines(note, 6, 6), engineer, "a")
    before = spec.changes.count()
    page = body(as_(curator).post("/w/review/", {"spec": spec.pk}, follow=True))
    assert "would be preferred" in page
    assert states(spec) == ["proposed"]
    assert spec.changes.count() == before


def test_what_somebody_else_decided_is_reported(as_, curator, second_curator, three):
    as_(second_curator).post("/w/review/", {"spec": three[0].pk})
    page = body(as_(curator).post("/w/review/", {"spec": three[0].pk}, follow=True))
    assert "is no longer waiting for a review" in page


@pytest.mark.parametrize("keys", [[], ["x"], ["9" * 30], ["-1"]])
def test_it_bears_nonsense(as_, curator, three, keys):
    assert as_(curator).post("/w/review/", {"spec": keys}, follow=True).status_code == 200
    assert set(states(*three)) == {"proposed"}


def test_it_takes_no_approval_of_an_engineer(as_, engineer, three):
    assert as_(engineer).post("/w/review/", {"spec": three[0].pk}).status_code == 403
    page = body(as_(engineer).get("/w/review/"))
    assert 'type="checkbox"' not in page
    assert 'id="approve-ticked"' not in page


def test_it_says_what_would_move(as_, curator, wiki, page_text):
    (wiki / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH.replace("4.8", "4.9"), TDP))
    import_wiki(wiki)
    new = Spec.objects.get(metric="memory_bandwidth", state="proposed")

    def provider(swaps):
        uses = [SpecUse("softmax", "/c/1/", "roof", "34 µs", "33 µs" if s.replacement else "")
                for s in swaps]  # fmt: skip
        return [[use] for use in uses]

    register(provider)
    try:
        found = rows(body(as_(curator).get("/w/review/")))
    finally:
        unregister(provider)
    by_spec = {int(row.split('"')[0]): row for row in found}
    assert "1 use; 1 target would move" in by_spec[new.pk]


def test_it_says_when_nothing_waits(as_, curator, wiki):
    page = body(as_(curator).get("/w/review/"))
    assert "Nothing waits" in page
    assert "python manage.py wiki check" in page
    assert "<table" not in page


def test_it_lists_no_retired_value(as_, curator, three):
    Flag.objects.create(spec=three[0], kind="lost")
    Spec.objects.filter(pk=three[0].pk).update(state=SpecState.RETIRED)
    assert len(rows(body(as_(curator).get("/w/review/")))) == 2


def test_it_needs_the_same_queries_for_any_length(
    as_, curator, engineer, x1, note, three, django_assert_num_queries
):
    client = as_(curator)
    client.get("/w/review/")
    with CaptureQueriesContext(connection) as few:
        client.get("/w/review/")
    for number in range(20):
        propose(
            x1, facts("4.9 TB/s", note=f"n {number}"), CitedLines(note, 5, 5), engineer, "again"
        )
    with django_assert_num_queries(len(few)):
        assert len(rows(body(client.get("/w/review/")))) == 23


def test_a_moved_citation_is_looked_at_before(as_, curator, three):
    text = "# Notes\n\nBy hand.\n\n\nbandwidth 4.9 TB/s\nfrom 4.8 to 5.1 TB/s, 5.1 kB, 5.1 GiB\n"
    take_files({"docs/notes.md": text}, ImportOptions(origin="notes"))
    page = body(as_(curator).get("/w/review/"))
    assert 'data-cite-state="moved"' in page
    as_(curator).post("/w/review/", {"spec": three[0].pk})
    assert states(three[0]) == ["proposed"]
    assert as_(curator).post(f"/w/s/{three[0].pk}/approve/").status_code == 302
