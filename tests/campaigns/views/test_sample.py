"""The sample is loaded from its recording, judged here, kept apart, and removed without a trace."""

import json
import lzma
import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign, Commit, Event, Evidence, Round, Verdict
from campaigns.models.transitions import claim
from campaigns.proposers.evidence import read_facts
from campaigns.records.explained.profiles import explained_of
from campaigns.records.review_queue import waiting_in_all
from campaigns.records.series import accepted
from campaigns.records.time_spent import spent_by_phase, time_spent
from campaigns.reports.found import all_rounds
from campaigns.reports.team.weeks import people, weekly_table
from campaigns.steps.lifecycle import load_sample as loading
from campaigns.steps.lifecycle.control import archive
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.load_sample import RECORDING, SampleRefused, load_sample, recording
from campaigns.steps.lifecycle.reconcile import untaught
from campaigns.steps.lifecycle.remove_sample import remove_sample
from knowledge.models import Comment, Experience
from tests.around import built_around
from tests.campaigns.sample import PROBLEM

pytestmark = pytest.mark.django_db
# What is the app's own, whoever uses it first.
SHARED = {"campaigns_problem", "campaigns_case", "campaigns_protocol"}


def counts():
    """Table → its rows."""
    return {model._meta.db_table: model._base_manager.count() for model in apps.get_models()}


def load():
    before = counts()
    return load_sample(User.objects.create(username="kim")).pk, before


@pytest.fixture(scope="module")
def loaded(wiki_of_module, django_db_blocker):
    with built_around(django_db_blocker, load) as found:
        yield found


@pytest.fixture
def sample(loaded, db):
    return Campaign.objects.get(pk=loaded[0])


def test_the_rules_of_today_come_to_what_was_recorded(sample):
    recorded = json.loads(lzma.decompress(RECORDING.read_bytes()))
    words = [tuple(row["verdict"]) for row in recorded["rounds"]]
    found = Verdict.objects.filter(round__campaign=sample).order_by("round__number")
    # What was recorded does not say of round 3 that its two arms have different compiler flags.
    flags = " The two arms are compiled with different flags:"
    now = found.values_list("word", "reason", "sentence")
    assert [(word, reason, said.partition(flags)[0]) for word, reason, said in now] == words
    assert sample.result["gain"] == pytest.approx(recorded["result"]["gain"])
    assert (sample.state, sample.stop_sentence) == ("done", recorded["stop"])
    took, told = sample.rounds.get(number=4), recording().rounds[3]
    assert took.closed_at - took.opened_at >= told.closed - told.opened
    sessions = [one for row in recording().rounds for one in row.candidate.evaluations]
    spent_h = sum((one.finished - one.started).total_seconds() for one in sessions) / 3600
    assert time_spent(sample, sample.finished_at).device_h == pytest.approx(spent_h)
    assert spent_by_phase(sample, sample.finished_at) == ()
    # And what was measured there is what is shipped.
    assert recorded["rounds"][0]["candidates"][0]["text"] == sample.problem.files["v0.cu"]
    assert recorded["protocol"] == json.loads(json.dumps(sample.protocol.rules))


def test_r27_each_kept_kernel_was_counted_and_the_next_idea_cites_what_that_showed(sample):
    rounds = list(sample.rounds.order_by("number"))
    kept = [one.chosen for one in rounds if one.verdict.word == "accepted"]
    limits = [explained_of(one, sample).profiled.limit.kind for one in kept]
    assert limits == ["launch", "mixed", "memory_dram", "memory_dram"]
    assert rounds[1].hypothesis["cites"] == ["finding:small_grid"]
    assert all(one.hypothesis["cites"] for one in rounds[1:])
    seen = read_facts(Evidence.objects.get(incumbent=rounds[3].chosen).facts).seen
    assert seen["line:59"].endswith(
        "40 % of its waits are at line 59, `peak = fmaxf(peak, fmaxf(fmaxf(held[v].x, held[v].y), "
        "fmaxf(held[v].z, held[v].w)));`, for global or local memory"
    )
    assert len([name for name in seen if name.startswith("line:")]) == 5


def test_a_round_says_what_it_rests_on_with_the_kernels_own_name(page, sample):
    text = page.get(f"/c/{sample.pk}/r/2/").content.decode()
    told = re.search(r'data-rests-on><a href="([^"]+)">([^<]+)', text)
    assert told[1] == reverse("round_tab", args=[sample.pk, 1, "profile"])
    assert told[2].startswith("softmax_rows(")


def test_r28_its_profile_says_at_which_lines_of_the_source_warps_wait(page, sample):
    text = page.get(f"/c/{sample.pk}/r/4/profile/").content.decode()
    first, second, *_ = re.findall(r'data-line="([^"]+)"', text)
    assert (first, second) == ("candidate.cu:59", "candidate.cu:78")
    source = sample.rounds.get(number=4).chosen.text.splitlines()
    assert f"<code>{source[58].strip()}</code>" in text
    assert text.index("for global or local memory") < text.index("their last stores and atomics")
    # The kernel that was counted comes first among 7, with its threads and the same shares.
    listed = page.get(f"/c/{sample.pk}/r/4/code/").content.decode()
    kernel, *others = re.findall(r'data-function="([^"]+)"', listed)
    assert kernel.startswith("void softmax_in_registers&lt;4, 256&gt;(")
    assert f"{len(others)} more kernels" in listed
    assert "8 blocks, 64 of 64 warps" in listed
    assert "40.2 % of the waits" in listed
    assert listed.index("40.2 % of the waits") < listed.index("more kernels")


def test_nothing_waits_for_it_or_learns_from_it(loaded, sample):
    assert waiting_in_all() == list(accepted()) == list(untaught()) == list(all_rounds()) == []
    assert not Experience.objects.exists()
    assert not Commit.objects.exists()
    assert not weekly_table(sample.finished_at).to_numpy().any()
    assert [row["campaigns"] for row in people()] == [0]


def test_it_is_loaded_once_and_its_removal_leaves_no_row(loaded, sample):
    assert load_sample(User.objects.create(username="lea")).pk == sample.pk
    User.objects.get(username="lea").delete()
    archive(sample, None)
    remove_sample(sample)
    left = counts()
    connection.check_constraints()
    kim = {"auth_user": loaded[1]["auth_user"] + 1}
    shared = {table: left[table] for table in SHARED}
    assert left == loaded[1] | kim | shared


@pytest.mark.storage
def test_nothing_else_can_be_removed(sample):
    wish = Wish(problem=PROBLEM, platform="h200-sxm", backend="cuda", created_by=sample.created_by)
    own = create_campaign(wish)
    with pytest.raises(SampleRefused, match="is a record; accepted: the sample"):
        remove_sample(own)
    for rows in (Event.objects.filter(campaign=own), Campaign.objects.filter(pk=own.pk)):
        with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
            rows._raw_delete("default")
    claim(Campaign.objects.filter(pk=own.pk), state="confirmed")
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        claim(Campaign.objects.filter(pk=own.pk), recorded_at=sample.recorded_at)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        claim(Round.objects.filter(campaign=sample, number=2), kind="sweep")


def lack_a_session(recorded):
    recorded.rounds[1].candidates[0].evaluations.pop()


def claim_more_bytes(recorded):
    recorded.target["cases"]["1024x1024"]["bytes"] *= 1000


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lack_a_session, "round 2 needs a remeasure that is not recorded"),
        (claim_more_bytes, "the sample: Baseline: .* is below the physical floor"),
    ],
)
def test_a_recording_that_the_rules_lead_elsewhere_leaves_nothing(
    page, sample, monkeypatch, spoil, said
):
    remove_sample(sample)
    spoilt = recording()
    spoil(spoilt)
    monkeypatch.setattr(loading, "recording", lambda: spoilt)
    with pytest.raises(SampleRefused, match=said):
        load_sample(None)
    assert b"The sample is not loaded: the sample: " in page.post("/c/sample", follow=True).content
    assert not Campaign.objects.exists()


def test_the_command_finds_and_removes_it(sample, capsys):
    call_command("campaign", "sample", "--by", "kim")
    assert "Sample: Row softmax, cuda on NVIDIA H200 SXM" in capsys.readouterr().out
    call_command("campaign", "sample", "--remove")
    assert not Campaign.objects.exists()
    with pytest.raises(CommandError, match="is not loaded"):
        call_command("campaign", "sample", "--remove")


def test_a_click_leads_to_it_and_who_loaded_it_or_a_lead_removes_it(page, viewer, sample):
    address = sample.get_absolute_url()
    assert viewer.post("/c/sample").status_code == 403
    assert b"Load the sample campaign" in page.get("/").content
    assert page.post("/c/sample").headers["Location"] == address
    for other in (viewer, page):
        assert other.post(f"{address}remove").status_code == 403
        assert b"do-remove" not in other.get(address).content
    lead, owner = Client(), Client()
    for client, user, role in (
        (lead, User.objects.create(username="lea"), "lead"),
        (owner, sample.created_by, "engineer"),
    ):
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        assert b"do-remove" in client.get(address).content
        with transaction.atomic():
            assert client.post(f"{address}remove").headers["Location"] == "/"
            assert page.get(address).status_code == 404
            transaction.set_rollback(True)


def test_it_is_marked_wherever_it_is_shown(page, sample):
    tabs = [reverse("campaign_tab", args=[sample.pk, tab]) for tab in ("target", "activity")]
    shown = [f"/c/{sample.pk}/{rest}" for rest in ("", "rounds/", "figures/", "report/", "r/4/")]
    for address in ("/c/", *shown, *tabs, f"/c/{sample.pk}/compare/1..4"):
        assert b"sample, recorded on an NVIDIA H200 SXM" in page.get(address).content, address
    assert page.get(f"/api/v1/campaigns/{sample.pk}/").json()["recorded_at"] == (
        "2026-11-29T01:43:57.515581Z"
    )
    owner = Client()
    owner.force_login(sample.created_by)
    assert [line.campaign for line in owner.get("/").context["own"]] == [sample]
    assert not page.get("/").context["finished"]


def test_nobody_decides_or_remarks_about_it(page, engineer, sample):
    engineer.user_permissions.add(Permission.objects.get(codename="review_round"))
    for address in (f"/c/{sample.pk}/", f"/c/{sample.pk}/r/2/"):
        body = page.get(address).content.decode()
        assert 'id="decide"' not in body
        assert 'id="discussion"' not in body
        assert page.post(f"{address}decide", {"word": "approved", "seen": "0"}).status_code == 409
    remark = {"kind": "round", "key": f"{sample.pk}/2", "anchor": "", "text": "fine"}
    assert page.post("/comments/", remark).status_code in (404, 422)
    assert not Comment.objects.exists()
    assert page.get(f"/badge/c/{sample.pk}.svg").status_code == 404
    assert page.get(f"/badge/c/{sample.pk}/r/2.svg").status_code == 404
    assert b"badge-title" not in page.get(f"/c/{sample.pk}/share").content
    assert sample.title not in page.get("/feeds/campaigns.atom").content.decode()
    assert sample.title not in page.get("/events/").content.decode()
