"""Handing in a candidate from a campaign's page, and what became of it."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from campaigns.models import Round, Submission
from campaigns.proposers.handed_in import NEEDED
from campaigns.proposers.situation import facts_about
from tests.campaigns.sample import HOSTILE
from tests.campaigns.steps import cast

SAID = {
    "title": f"Use wider loads {HOSTILE}",
    "change": "read four values at a time",
    "rationale": "the loads are narrow",
    "evidence": ["1024x1024", "limit"],
    "metric": "time per call",
    "direction": "down",
    "amount": "12.5%",
    "bucket": "K1",
}


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    bells = []
    monkeypatch.setattr("campaigns.views.submit.notify", lambda *a: bells.append(a))
    return bells


@pytest.fixture
def address(running):
    return reverse("hand_in", args=[running.pk])


def typed(running, **more):
    return {**SAID, "source": f"{running.incumbent.text}\n// wider\n", **more}


def test_it_starts_with_the_incumbents_source_and_the_facts_about_it(page, running, address):
    body = page.get(address).content.decode()
    assert "__global__ void softmax_rows" in body
    assert 'name="evidence" value="1024x1024"' in body
    assert "of the " in facts_about(running)["1024x1024"]
    for path in (f"/c/{running.pk}/", f"/c/{running.pk}/r/2/"):
        assert f'href="{address}"' in page.get(path).content.decode()


def test_it_hands_in_and_shows_where_it_waits(page, engineer, running, address, rung):
    answer = page.post(address, typed(running))
    made = Submission.objects.get()
    assert answer.headers["Location"] == made.get_absolute_url()
    assert (made.by, made.name, made.kind) == (engineer, "alice", "person")
    assert made.hypothesis["expected_amount"] == 0.125
    assert [bell[0] for bell in rung] == [running]
    body = page.get(made.get_absolute_url()).content.decode()
    assert "It is tried next, as soon as round 4 is closed." in body
    assert f'<a href="/c/{running.pk}/r/4/">Round 4</a> is under way' in body
    assert "<script>document.title" not in body
    assert "// wider" in body
    board = page.get(f"/c/{running.pk}/").content.decode()
    assert f'data-submission="{made.pk}"' in board
    assert "<script>document.title" not in board


def test_it_keeps_everything_that_was_typed_beside_what_is_wrong(page, running, address):
    sent = typed(running, rationale=" ", amount="8", direction="up", risks=HOSTILE)
    answer = page.post(address, sent)
    assert answer.status_code == 422
    form = answer.context["form"]
    assert list(form.errors) == ["rationale"]
    body = answer.content.decode()
    assert "// wider" in body
    assert 'value="1024x1024" id="hand-evidence_0" aria-describedby' not in body
    assert 'value="1024x1024" id="hand-evidence_0" checked' in body
    assert '<option value="up" selected>' in body
    assert "&lt;script&gt;document.title" in body
    assert 'value="8"' in body
    assert Submission.objects.count() == 0


def test_r35_a_search_log_that_asks_the_web_for_specs_is_kept_as_typed(page, running, address):
    log = "web | H200 memory bandwidth | 4.8 TB/s"
    answer = page.post(address, typed(running, searched=log))
    assert "specs come from the wiki" in str(answer.context["form"].errors["searched"])
    assert log in answer.content.decode()


def test_it_names_every_field_that_is_missing(page, running, address):
    form = page.post(address, {"source": "x"}).context["form"]
    assert set(form.errors) == {
        *("title", "change", "rationale", "metric", "direction", "amount", "evidence"),
    }


def test_it_takes_a_file_instead_and_shows_its_text_when_it_is_refused(page, running, address):
    text = f"{running.incumbent.text}// from a file\n"
    sent = typed(running, upload=SimpleUploadedFile("mine.cu", text.encode()), title="")
    answer = page.post(address, sent)
    assert answer.context["form"]["source"].value() == text
    sent = typed(running, upload=SimpleUploadedFile("mine.cu", text.encode()))
    page.post(address, sent)
    assert Submission.objects.get().text == text
    sent = typed(running, upload=SimpleUploadedFile("mine.cu", b"\xff\xfe"))
    assert list(page.post(address, sent).context["form"].errors) == ["upload"]
    sent = typed(running, upload=SimpleUploadedFile("mine.cu", b"x" * 300_000))
    assert "accepted: text of at most" in str(page.post(address, sent).context["form"].errors)
    sent = typed(running, upload=SimpleUploadedFile("mine.py", b"import os"))
    assert "ends in .cu" in str(page.post(address, sent).context["form"].errors["source"])


def test_a_duplicate_is_refused_with_the_round_that_had_it(page, running, address):
    earlier = running.rounds.get(number=2).chosen.text
    source = earlier if earlier != running.incumbent.text else running.rounds.get(number=1)
    text = source if isinstance(source, str) else source.chosen.text
    form = page.post(address, typed(running, source=text)).context["form"]
    assert "round " in str(form.errors["source"])


def test_a_finished_campaign_takes_none(page, sample):
    address = reverse("hand_in", args=[sample.pk])
    assert (
        "This campaign is done; it takes no candidate any more."
        in page.get(address).content.decode()
    )
    answer = page.post(address, SAID | {"source": "x"})
    assert answer.status_code == 422
    assert "This campaign is done" in answer.content.decode()
    assert "to-hand-in" not in page.get(f"/c/{sample.pk}/").content.decode()


def test_it_needs_the_engineers_role(viewer, client, running, address):
    assert viewer.get(address).status_code == 403
    assert viewer.post(address, SAID).status_code == 403
    assert "to-hand-in" not in viewer.get(f"/c/{running.pk}/").content.decode()
    assert client.get(address).status_code == 302


def test_every_round_shows_who_proposed_it(page, sample):
    assert 'data-proposed-by="search"' in page.get(f"/c/{sample.pk}/r/2/").content.decode()
    table = page.get(f"/c/{sample.pk}/rounds/").content.decode()
    assert table.count('data-proposed-by="search"') == sample.rounds.count() - 1


def test_its_page_becomes_that_of_its_round_which_is_live(page, tmp_path, monkeypatch):
    cast.set_the_scene(monkeypatch)
    campaign = cast.make_campaign(tmp_path, proposers="person")
    bench = cast.make_bench(cast.Judge())
    while cast.fresh(campaign).state != "awaiting":
        cast.measure_all(campaign, bench)
    body = page.get(f"/c/{campaign.pk}/").content.decode()
    assert "This campaign waits for a candidate to be handed in." in body
    log = f"lessons | loads {HOSTILE} | wide ones\r\nweb | online softmax | nothing"
    sent = {**SAID, "evidence": ["one"], "source": "time 50", "searched": log}
    made = page.post(reverse("hand_in", args=[campaign.pk]), sent).headers["Location"]
    live = {"HX-Request": "true"}
    place = page.get(made, headers=live)
    assert b"It is tried next." in place.content
    assert b"<html" not in place.content
    cast.step_until(campaign, "validate")
    own = reverse("round", args=[campaign.pk, 2])
    assert page.get(made).headers["Location"] == own
    assert page.get(made, headers=live).headers["HX-Redirect"] == own
    body = page.get(own).content.decode()
    assert f'hx-get="{own}result"' in body
    assert "alice (person), handed in" in body
    part = page.get(f"{own}result", headers=live)
    assert b"No verdict yet" in part.content
    assert page.get(f"{own}result").headers["Location"] == own
    while Round.objects.get(campaign=campaign, number=2).state != "closed":
        cast.measure_all(campaign, bench)
    assert page.get(f"{own}result", headers=live).headers["HX-Refresh"] == "true"
    body = page.get(own).content.decode()
    assert f"{own}result" not in body
    assert re.findall(r'data-searched="(\w+)"', body) == ["lessons", "web"]
    assert "<script>document.title" not in body
    assert 'data-verdict="accepted"' in body


def test_it_marks_in_a_word_what_is_needed(page, running, address):
    body = page.get(address).content.decode()
    labels = re.findall(r"<(?:label|legend)[^>]*>(.*?)</(?:label|legend)>", body)
    marked = [each for each in labels if '<span class="note">required</span>' in each]
    assert len(marked) == len(NEEDED)
    assert not any(each.startswith(("Risks", "Strategy", "Bucket")) for each in marked)
