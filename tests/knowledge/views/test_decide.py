"""Decisions on one spec: who may, who was first, and what has to be written."""

import re
from html import unescape

import pytest

from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, give_back, retire
from knowledge.models import Flag, Spec, Waiver
from tests.knowledge.conftest import facts

STEPS = ("approve", "return", "resubmit", "retire", "rank", "restore", "waive")


def post(client, spec, step, **data):
    return client.post(f"/w/s/{spec.pk}/{step}/", data)


def state(spec):
    spec.refresh_from_db()
    return spec.state, spec.rank


@pytest.fixture
def old(wiki):
    return Spec.objects.get(metric="memory_bandwidth", shown="4.8 TB/s")


def test_a_second_person_approves(as_, proposal, curator):
    answer = post(as_(curator), proposal, "approve", why="read it")
    assert (answer.status_code, answer.url) == (302, f"/w/s/{proposal.pk}/")
    assert state(proposal) == ("approved", "preferred")
    assert proposal.changes.first().why == "read it"


def test_an_author_is_refused(as_, x1, note, curator):
    mine = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), curator, "measured")
    for step in ("approve", "return"):
        answer = post(as_(curator), mine, step, why="mine")
        assert answer.status_code == 403
        assert "another curator decides" in answer.content.decode()
    assert state(mine)[0] == "proposed"


@pytest.mark.parametrize("step", STEPS)
def test_a_viewer_is_refused(viewer, proposal, step):
    before = proposal.changes.count()
    assert post(viewer, proposal, step, why="I say so").status_code == 403
    assert proposal.changes.count() == before


@pytest.mark.parametrize("step", STEPS)
def test_it_takes_only_posts(as_, curator, proposal, step):
    assert as_(curator).get(f"/w/s/{proposal.pk}/{step}/").status_code == 405
    assert as_(curator).post(f"/w/s/999999/{step}/").status_code == 404


def test_the_second_curator_is_told_who_was_first(as_, proposal, curator, second_curator):
    seen = proposal.changes.first().pk
    assert post(as_(curator), proposal, "approve", seen=seen).status_code == 302
    answer = post(as_(second_curator), proposal, "approve", seen=seen)
    page = unescape(answer.content.decode())
    assert answer.status_code == 409
    assert "cora was first: approved at" in page
    assert f'href="/w/s/{proposal.pk}/"' in page
    assert [c.action for c in proposal.changes.all()] == ["approved", "proposed"]


def test_a_raw_second_approval_is_told_as_well(as_, proposal, curator, second_curator):
    post(as_(curator), proposal, "approve")
    answer = post(as_(second_curator), proposal, "approve")
    assert answer.status_code == 409
    assert "cora was first" in answer.content.decode()


def shown(client, spec):
    """What the form of an approval keeps of the page."""
    page = client.get(f"/w/s/{spec.pk}/").content.decode()
    return re.search(r'name="seen" value="(\d+)"', page)[1]


def test_an_approval_knows_which_value_it_takes_the_place_of(
    as_, x1, note, proposal, engineer, curator, second_curator
):
    rival = propose(x1, facts("5.1 TB/s"), CitedLines(note, 6, 6), engineer, "another sheet")
    seen = [shown(as_(curator), proposal), shown(as_(second_curator), rival)]
    assert post(as_(curator), proposal, "approve", seen=seen[0]).status_code == 302
    answer = post(as_(second_curator), rival, "approve", seen=seen[1])
    assert answer.status_code == 409
    assert "cora was first: approved at" in unescape(answer.content.decode())
    assert "(x-1 memory_bandwidth: 4.9 TB/s)" in unescape(answer.content.decode())
    assert (state(rival)[0], state(proposal)) == ("proposed", ("approved", "preferred"))
    again = shown(as_(second_curator), rival)
    assert post(as_(second_curator), rival, "approve", seen=again).status_code == 302
    assert (state(rival)[1], state(proposal)[1]) == ("preferred", "normal")


def test_another_proposal_of_the_question_holds_no_approval_up(
    as_, x1, note, proposal, engineer, curator
):
    seen = shown(as_(curator), proposal)
    propose(x1, facts("5.1 TB/s"), CitedLines(note, 6, 6), engineer, "another sheet")
    assert post(as_(curator), proposal, "approve", seen=seen).status_code == 302


def test_a_stale_rank_is_a_conflict(as_, proposal, curator, second_curator, old):
    approve(proposal, curator)
    seen = proposal.changes.first().pk
    answer = post(as_(curator), proposal, "rank", seen=seen, rank="preferred", why="again")
    assert answer.status_code == 422  # preferred it is already
    post(as_(second_curator), old, "rank", rank="preferred", why="the sheet is right")
    answer = post(as_(curator), proposal, "rank", seen=seen, rank="deprecated", why="old")
    assert answer.status_code == 409
    assert "carl was first: ranked" in answer.content.decode()


def test_a_retired_value_is_not_approved_by_the_back_door(as_, proposal, curator, second_curator):
    retire(proposal, curator, "wrong")
    answer = post(as_(second_curator), proposal, "approve")
    assert answer.status_code == 409
    assert state(proposal)[0] == "retired"


def test_an_open_flag_refuses_an_approval(as_, proposal, curator):
    Flag.objects.create(spec=proposal, kind="same_citation")
    answer = post(as_(curator), proposal, "approve")
    assert answer.status_code == 409
    assert "has to be answered before" in unescape(answer.content.decode())
    assert state(proposal)[0] == "proposed"


@pytest.mark.parametrize("step", ["return", "retire"])
def test_a_reason_is_needed_and_the_page_says_so_at_the_field(as_, proposal, curator, step):
    answer = post(as_(curator), proposal, step, why="  ")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="{step}-why_error"' in page
    assert f'aria-describedby="{step}-why_error"' in page
    assert "a reason is needed" in page
    assert state(proposal)[0] == "proposed"


def test_an_author_answers_a_return(as_, proposal, curator, engineer):
    post(as_(curator), proposal, "return", why="which sheet?")
    assert state(proposal)[0] == "returned"
    assert post(as_(curator), proposal, "resubmit", why="mine now").status_code == 403
    assert post(as_(engineer), proposal, "resubmit", why="the first").status_code == 302
    assert state(proposal)[0] == "proposed"
    assert [c.why for c in proposal.changes.all()][:2] == ["the first", "which sheet?"]


def test_retiring_the_preferred_asks_who_follows(as_, proposal, curator, old):
    approve(proposal, curator)
    answer = post(as_(curator), proposal, "retire", why="wrong")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'id="retire-successor_error"' in page
    assert "accepted: 4.8 TB/s" in page
    assert "wrong</textarea>" in page
    assert state(proposal) == ("approved", "preferred")
    answer = post(as_(curator), proposal, "retire", why="wrong", successor=old.pk)
    assert answer.status_code == 302
    assert state(old) == ("approved", "preferred")


def test_a_successor_answers_the_same_question(as_, proposal, curator):
    approve(proposal, curator)
    other = Spec.objects.get(metric="tdp")
    answer = post(as_(curator), proposal, "retire", why="wrong", successor=other.pk)
    assert answer.status_code == 422
    assert state(proposal)[0] == "approved"


def test_a_preferred_value_is_only_exchanged(as_, proposal, curator, old):
    approve(proposal, curator)
    answer = post(as_(curator), proposal, "rank", rank="normal", why="hm")
    assert answer.status_code == 422
    assert 'id="rank-rank_error"' in answer.content.decode()
    assert post(as_(curator), old, "rank", rank="preferred", why="better").status_code == 302
    assert state(proposal) == ("approved", "normal")


def test_a_restored_value_is_a_proposal_and_nothing_disappears(as_, proposal, curator, engineer):
    give_back(proposal, curator, "which sheet?")
    retire(proposal, engineer, "not worth it")
    before = list(proposal.changes.values_list("pk", flat=True))
    assert post(as_(engineer), proposal, "restore", why="it is").status_code == 302
    assert state(proposal)[0] == "proposed"
    after = list(proposal.changes.values_list("pk", flat=True))
    assert after[1:] == before


@pytest.fixture
def odd(x1, note, engineer):
    return propose(
        x1, facts("5.1 kB", metric="l2_size"), CitedLines(note, 6, 6), engineer, "why not"
    )


def test_a_warning_is_waived_with_a_reason(as_, odd, curator):
    answer = post(as_(curator), odd, "waive", constraint="range", reason="a toy")
    assert answer.status_code == 302
    waiver = Waiver.objects.get()
    assert (waiver.spec, waiver.constraint, waiver.reason) == (odd, "range", "a toy")
    assert odd.changes.first().action == "waived"


def test_a_waiver_is_refused_without_reason_or_warning(as_, odd, curator):
    answer = post(as_(curator), odd, "waive", constraint="range", reason="")
    assert answer.status_code == 422
    assert 'id="waive-range-reason_error"' in answer.content.decode()
    answer = post(as_(curator), odd, "waive", constraint="duplicate", reason="because")
    assert answer.status_code == 422
    assert "accepted: range" in unescape(answer.content.decode())
    assert not Waiver.objects.exists()


def test_an_author_waives_nothing(as_, x1, note, curator):
    mine = propose(
        x1, facts("5.1 kB", metric="l2_size"), CitedLines(note, 6, 6), curator, "why not"
    )
    answer = post(as_(curator), mine, "waive", constraint="range", reason="mine")
    assert answer.status_code == 403


def test_a_second_waiver_is_a_conflict(as_, odd, curator, second_curator):
    post(as_(curator), odd, "waive", constraint="range", reason="a toy")
    answer = post(as_(second_curator), odd, "waive", constraint="range", reason="a toy too")
    assert answer.status_code == 409
    assert "cora was first" in answer.content.decode()
