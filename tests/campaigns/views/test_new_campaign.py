"""A new campaign."""

import re

import pytest
from django.core.management import load_command_class
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, CampaignState, Worker
from campaigns.views.new_campaign import CampaignForm
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.terms import AttemptLabel
from knowledge.models import Document, ExperienceOrigin, Platform
from knowledge.models.document import SHIPPED_ORIGIN
from tests.campaigns.views.conftest import whole_campaign
from tests.kept_wiki import put_wiki

H100 = "docs/hardware/h100-sxm5-80gb.md"
CHOICE = {
    "problem": "softmax",
    "platform": "h200-sxm",
    "backend": "cuda",
    "goal": "85",
    "rounds": "12",
}


@pytest.fixture(autouse=True)
def wiki(db):
    put_wiki()


@pytest.fixture
def rung(monkeypatch):
    bells = []
    monkeypatch.setattr("campaigns.views.new_campaign.notify", lambda *a: bells.append(a))
    return bells


def test_it_shows_a_command_that_the_command_line_takes(page):
    shown = page.get("/c/new", CHOICE).context["command"]
    words = shown.split()
    assert words[:4] == [".venv/bin/python", "manage.py", "campaign", "new"]
    parser = load_command_class("campaigns", "campaign").create_parser("manage.py", "campaign")
    found = vars(parser.parse_args(words[3:]))
    assert {found[key] for key in ("problem", "platform", "backend")} == {
        "softmax", "h200-sxm", "cuda",
    }  # fmt: skip
    assert (found["goal"], found["rounds"]) == (85.0, 12)


def test_law_1_it_refuses_a_platform_with_a_stale_ceiling(page, rung):
    chosen = CHOICE | {"platform": "h100-sxm5-80gb"}
    assert page.get("/c/new", chosen).content.decode().count(">3.35 TB/s</a>") == 2
    text = Document.objects.get(path=H100).latest.text
    other = text.replace("- memory_bandwidth: 3.35 ", "- memory_bandwidth: 3.36 ")
    take_files({H100: other}, ImportOptions(origin=SHIPPED_ORIGIN))
    body = page.get("/c/new", chosen).content.decode()
    assert "Memory_bandwidth of h100-sxm5-80gb was 3.35 TB/s, and the cited text has " in body
    assert 'id="create" disabled' in body
    assert page.post("/c/new", chosen).status_code == 422
    assert not Campaign.objects.exists()


def test_law_1_a_start_that_the_wiki_refuses_at_last_leaves_no_draft(page, rung, monkeypatch):
    at = "campaigns.records.target.ceilings.bandwidth_ceilings"
    monkeypatch.setattr(at, lambda platform, **_: [])
    answer = page.post("/c/new", CHOICE)
    assert answer.status_code == 422
    assert "there is no target" in answer.content.decode()
    assert (Campaign.objects.count(), rung) == (0, [])


def test_it_creates_confirms_and_rings(page, engineer, rung):
    answer = page.post("/c/new", CHOICE)
    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == reverse("campaign", args=[campaign.pk])
    assert campaign.state == CampaignState.CONFIRMED
    assert campaign.created_by == engineer
    assert campaign.stop_policy["target_fraction"] == 0.85
    assert campaign.stop_policy["max_rounds"] == 12
    assert [bell[0] for bell in rung] == [campaign]


def test_r49_it_takes_hours_and_shows_them_in_the_command(page, rung):
    chosen = {**CHOICE, "hours": "2.5", "device_hours": ""}
    assert "--hours 2.5 " in f"{page.get('/c/new', chosen).context['command']} "
    page.post("/c/new", chosen)
    policy = Campaign.objects.get().stop_policy
    assert (policy["max_wall_h"], policy["max_device_h"]) == (2.5, None)
    refused = page.post("/c/new", {**chosen, "device_hours": "nan"})
    assert refused.status_code == 422
    assert "device_hours" in refused.context["errors"]


def test_r6_it_takes_another_target_than_a_share_of_the_roof(page, rung):
    chosen = {**CHOICE, "target": "baseline:1.5"}
    command = page.get("/c/new", chosen).context["command"]
    assert command.endswith("--target baseline:1.5")
    page.post("/c/new", chosen)
    goal = Campaign.objects.get().goal
    assert (goal["basis"], goal["fraction"], goal["value"]) == ("baseline_ratio", 1.5, None)


def test_it_takes_who_may_propose_and_shows_it_in_the_command(page, rung):
    usual = page.get("/c/new", CHOICE)
    assert "--proposers" not in usual.context["command"]
    assert 'name="rounds_agent" min="0" max="119" value="0"' in usual.content.decode()
    chosen = {**CHOICE, "rounds_search": "5", "rounds_person": "", "rounds_agent": "3"}
    command = page.get("/c/new", chosen).context["command"]
    assert "--proposers search=5,person,agent=3" in command
    page.post("/c/new", chosen)
    campaign = Campaign.objects.get()
    assert campaign.proposers == {"search": 5, "person": None, "agent": 3}
    body = whole_campaign(page, campaign)
    named = re.findall(r'data-proposer="(\w+)"', body)
    assert named == ["search", "person", "agent"]
    assert 'data-proposer="agent"' in body


def test_it_says_which_proposers_no_campaign_can_have(page, rung):
    nobody = {**CHOICE, "rounds_search": "0", "rounds_person": "0", "rounds_agent": "0"}
    answer = page.post("/c/new", nobody)
    assert answer.context["errors"]["proposers"][0].startswith("nobody may propose")
    wrong = page.post("/c/new", {**CHOICE, "rounds_search": "200", "rounds_person": "x"})
    assert set(wrong.context["errors"]) == {"rounds_search", "rounds_person"}
    assert Campaign.objects.count() == 0


def test_it_takes_kernels_that_count_as_own_and_shows_them_with_the_campaign(page, rung):
    chosen = {**CHOICE, "own_kernels": "DeviceReduceKernel, rows"}
    command = page.get("/c/new", chosen).context["command"]
    assert command.endswith("--own-kernel DeviceReduceKernel --own-kernel rows")
    page.post("/c/new", chosen)
    campaign = Campaign.objects.get()
    assert campaign.own_kernels == ["DeviceReduceKernel", "rows"]
    body = whole_campaign(page, campaign)
    assert '<dd class="mono" data-own-kernels>DeviceReduceKernel, rows</dd>' in body
    assert "although its source does not show it" in body


def test_torch_is_measured_beside_it_unless_it_is_left_out(page, rung):
    assert "--no-baselines" not in page.get("/c/new", CHOICE).context["command"]
    page.post("/c/new", CHOICE)
    assert Campaign.objects.get().intake["baselines"] is True
    chosen = {**CHOICE, "no_baselines": "1"}
    shown = page.get("/c/new", chosen)
    assert shown.context["command"].endswith("--no-baselines")
    assert 'id="new-no_baselines" value="1" checked' in shown.content.decode()
    page.post("/c/new", chosen)
    assert "baselines" not in Campaign.objects.latest("pk").intake


def test_it_requires_sanitizers_where_they_can_run(page, rung):
    chosen = {**CHOICE, "require_sanitizers": "1"}
    shown = page.get("/c/new", chosen)
    assert shown.context["command"].endswith("--require-sanitizers")
    assert 'id="new-require_sanitizers" value="1" checked' in shown.content.decode()
    page.post("/c/new", chosen)
    campaign = Campaign.objects.get()
    assert campaign.protocol.rules["require_sanitizers"] is True
    assert 'data-sanitizers="required"' in whole_campaign(page, campaign)
    triton = page.get("/c/new", {**chosen, "backend": "triton"})
    assert "new-require_sanitizers" not in triton.content.decode()
    assert "--require-sanitizers" not in triton.context["command"]


def test_it_escapes_what_is_no_kernels_name(page, rung):
    answer = page.post("/c/new", {**CHOICE, "own_kernels": "<b>x</b>"})
    assert answer.status_code == 422
    body = answer.content.decode()
    assert "count as own</a>: &#x27;&lt;b&gt;x&lt;/b&gt;&#x27;; accepted: a kernel" in body
    assert "<b>x" not in body
    assert not Campaign.objects.exists()


def test_it_asks_for_no_kernels_where_none_are_traced(page):
    assert 'name="own_kernels"' in page.get("/c/new", CHOICE).content.decode()
    offered = {**CHOICE, "backend": "cpp"}
    shown = page.get("/c/new", offered)
    assert shown.context["values"]["backend"] in ("cuda", "triton")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("platform", "no-such-chip", "cannot be chosen; accepted:"),
        ("goal", "0", "greater than or equal to 1"),
        ("goal", "much", "Enter a whole number"),
        ("rounds", "500", "a campaign has fewer than 120 rounds; accepted: 2 to 119"),
        ("target", "fast", "accepted: 90% or ceiling:0.9"),
    ],
)
def test_it_refuses_nonsense_and_keeps_the_rest(page, rung, field, value, told):
    answer = page.post("/c/new", {**CHOICE, field: value})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert told in body
    assert f'href="#new-{field}">{CampaignForm.base_fields[field].label}</a>:' in body
    assert 'value="12"' in body or field == "rounds"
    assert not Campaign.objects.exists()
    assert rung == []


def test_it_lists_a_platform_without_ceilings_disabled_and_says_why(page):
    Platform.objects.create(
        slug="bare", name="Bare Chip", vendor="x", arch="x", kind="gpu", target="sm_99"
    )
    body = page.get("/c/new", {"problem": "softmax"}).content.decode()
    assert "the wiki has no approved memory bandwidth and no peak for this dtype" in body
    assert page.post("/c/new", {**CHOICE, "platform": "bare"}).status_code == 422


def test_the_whole_page_has_the_chosen_platform_and_its_backends(page):
    body = page.get("/c/new", CHOICE).content.decode()
    assert 'id="backend-cuda" value="cuda" checked' in body
    assert "<dt>Platform</dt><dd>NVIDIA H200 SXM</dd>" in body


def test_it_gives_the_form_alone_to_htmx(page):
    body = page.get("/c/new", CHOICE, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in body
    assert 'id="new-form"' in body


def test_r40_it_says_beforehand_what_becomes_of_a_restart(page, engineer, rung):
    shown = page.get("/c/new", CHOICE)
    assert shown.context["values"]["restart"] == "take"
    assert "--restart" not in shown.context["command"]
    chosen = {**CHOICE, "restart": "ask"}
    assert "--restart ask" in page.get("/c/new", chosen).context["command"]
    page.post("/c/new", chosen)
    campaign = Campaign.objects.get()
    assert campaign.stop_policy["restart"] == "ask"
    assert 'data-restart-policy="ask"' in whole_campaign(page, campaign)
    refused = page.post("/c/new", {**CHOICE, "restart": "never"})
    assert "accepted: take, decline, ask" in str(refused.context["errors"]["restart"])


def test_it_asks_few_queries_however_many_platforms(page, django_assert_max_num_queries):
    assert Platform.objects.count() > 10
    with django_assert_max_num_queries(60):
        page.get("/c/new", CHOICE)
    with django_assert_max_num_queries(54):
        page.get("/c/new", CHOICE | {"platform": "h100-sxm5-80gb"}, headers={"HX-Request": "true"})


def test_it_warns_of_a_platform_that_no_worker_serves(page, rung):
    told = "No worker of NVIDIA H200 SXM is alive: this campaign waits."
    assert told in page.get("/c/new", CHOICE).content.decode()
    draft = page.post("/c/new", {**CHOICE, "draft": "1"}, follow=True)
    assert told in draft.content.decode()
    campaign = Campaign.objects.get()
    shown = page.get(f"/c/{campaign.pk}/").content.decode()
    assert f'<p class="band" data-no-worker>{told} ' in shown
    assert 'href="/workers/?platform=h200-sxm#start"' in shown
    confirmed = page.post(f"/c/{campaign.pk}/confirm", follow=True).content.decode()
    how = (
        "`.venv/bin/python manage.py up` on a host that has one, with the database and queue of "
        "this installation, starts a worker."
    )
    assert f'<li class="message warning">{told} {how}</li>' in confirmed


def test_it_guesses_no_chip_where_no_worker_can_time_the_kernel(page):
    found = page.get("/c/new", {"problem": "softmax"})
    assert found.context["chosen"] is None
    body = found.content.decode()
    assert "No worker here can time this kernel" in body
    assert 'id="create" disabled' in body


def test_a_chip_on_which_nothing_measures_yet_cannot_be_chosen(page, rung):
    lacking = page.get("/c/new", {"problem": "softmax"}).context["lacking"]
    why = {offer.platform.slug: offer.missing for offer in lacking}
    assert why["mi300x"] == "no backend of this problem is timed on it"
    assert page.post("/c/new", CHOICE | {"platform": "mi300x"}).status_code == 422


def test_platforms_with_a_live_worker_come_first(page):
    platform = Platform.objects.get(slug="h200-sxm")
    times = dict.fromkeys(("started_at", "heartbeat_at"), timezone.now())
    Worker.objects.create(name="box", device="NVIDIA H200", platform=platform, pid=1, **times)
    offers = page.get("/c/new", {"problem": "softmax"}).context["offers"]
    assert (offers[0].platform, offers[0].warning) == (platform, "")


def test_what_is_rare_is_folded_until_it_is_used(page):
    assert 'id="advanced">' in page.get("/c/new", CHOICE).content.decode()
    used = page.get("/c/new", CHOICE | {"hours": "2"}).content.decode()
    assert 'id="advanced" open>' in used


def test_what_was_shown_for_another_operation_says_so(page):
    shown = {"gain": 3.75, "gain_low": 2.85, "gain_high": 4.42, "pairs": 20}
    place = {"op": "softmax", "dtype": "float32", "backend": "cuda", "platform": "h200-sxm"}
    kind = {"label": AttemptLabel.SUCCESS, "origin": ExperienceOrigin.ROUND}
    record_attempts([NewExperience(strategy="search.threads", **kind, **place, **shown)])
    told = "1 of 1 worked, median 4.75× faster [3.85, 5.42] vs each incumbent"
    of_another = page.get("/c/new", CHOICE | {"problem": "layernorm"}).content.decode()
    assert f"{told}; <b>same family: softmax · cuda · h200-sxm</b>" in of_another
    assert f"{told}</span>" in page.get("/c/new", CHOICE).content.decode()
