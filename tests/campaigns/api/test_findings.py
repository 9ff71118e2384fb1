"""/api/v1/campaigns/: a policy chosen at creation, and the findings of every candidate."""

import pytest
from django.utils import timezone

from campaigns.models import Campaign, CampaignState, Worker
from campaigns.problems.shipped import problem_folder
from campaigns.rules.verdict.finding_kinds import FindingKind
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from knowledge.models import Platform
from tests.campaigns.api import test_workers
from tests.campaigns.steps import cast

client_of = test_workers.client_of
ADDRESS = "/api/v1/campaigns/"
BODY = {"problem": "softmax", "platform": "h200-sxm", "backend": "cuda", "rounds": 5}
KEEPS = "// time 50\nstatic int kept = 0; // <b>"


@pytest.fixture
def engineer(wiki_of_module, client_of, monkeypatch):
    monkeypatch.setattr("campaigns.api.campaigns.notify", lambda *a: None)
    return client_of("add_campaign")


def post(client, body, address=ADDRESS):
    return client.post(address, body, content_type="application/json")


def test_it_starts_a_campaign_with_its_policy(engineer):
    hours = {"max_wall_h": 2, "max_device_h": 0.5}
    answer = post(engineer, BODY | hours | {"findings": {"cache": "refused", "exit": "allowed"}})
    assert answer.status_code == 201
    campaign = Campaign.objects.get()
    assert (campaign.state, campaign.created_by.username) == (CampaignState.CONFIRMED, "user-0")
    assert campaign.stop_policy["max_rounds"] == 5
    assert hours.items() <= campaign.stop_policy.items()
    policy = answer.json()["findings_policy"]
    assert policy == campaign.findings_policy
    assert (policy["cache"], policy["exit"], policy["process"]) == ("refused", "allowed", "refused")


def test_law_1_it_starts_nothing_whose_target_is_unknown(engineer, client_of):
    answer = post(engineer, BODY | {"platform": "h20"})
    assert (answer.status_code, answer.json()["field"]) == (422, "platform")
    assert "no approved memory_bandwidth of h20; there is no target." in answer.json()["message"]
    assert not Campaign.objects.exists()
    draft = create_campaign(Wish(problem_folder("softmax"), "h20", "cuda"))
    answer = post(client_of("change_campaign"), {}, f"{ADDRESS}{draft.pk}/confirm/")
    assert (answer.status_code, cast.fresh(draft).state) == (409, CampaignState.DRAFT)


def test_it_says_that_no_worker_begins_with_it(engineer):
    told = post(engineer, BODY).json()["no_worker"]
    assert told.startswith("No worker of NVIDIA H200 SXM is alive: this campaign waits.")
    platform = Platform.objects.get(slug="h200-sxm")
    now = dict.fromkeys(("started_at", "heartbeat_at"), timezone.now())
    Worker.objects.create(name="box", device="cuda:0", platform=platform, pid=1, **now)
    assert post(engineer, BODY).json()["no_worker"] == ""


def test_it_refuses_a_card_that_no_worker_can_measure_on(engineer):
    answer = post(engineer, BODY | {"platform": "mi300x"})
    assert (answer.status_code, answer.json()["field"]) == (422, "backend")
    assert "not timed on mi300x (AMD gpu); accepted there: none" in answer.json()["message"]


def test_it_takes_kernels_that_count_as_own(engineer):
    answer = post(engineer, BODY | {"own_kernels": ["DeviceReduceKernel", "rows"]})
    assert answer.json()["own_kernels"] == ["DeviceReduceKernel", "rows"]
    assert Campaign.objects.get().own_kernels == ["DeviceReduceKernel", "rows"]


def test_it_takes_that_sanitizers_are_required(engineer):
    assert post(engineer, BODY).json()["require_sanitizers"] is False
    answer = post(engineer, BODY | {"require_sanitizers": True})
    assert answer.json()["require_sanitizers"] is True


def test_it_takes_that_torch_is_left_out(engineer):
    assert post(engineer, BODY | {"no_baselines": True}).json()["baselines"] == []
    assert "baselines" not in Campaign.objects.get().intake


def test_r1_it_takes_what_else_is_to_be_known(engineer):
    said = {"git_branch": "optimize/mine", "constraints": "no exp2"}
    told = post(engineer, BODY | said).json()["intake"]
    assert {**told, "baselines": True} == Campaign.objects.get().intake
    assert said.items() <= told.items()
    assert told["notes"] == ""


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"git_branch": "a..b"}, "git_branch", "'a..b'; accepted: auto, or letters"),
        ({"notes": 5}, "notes", "is needed, as a text"),
        ({"findings": {"caches": "refused"}}, "findings", "'caches'; accepted: identity_key, "),
        ({"findings": {"cache": "banned"}}, "findings.cache", "'banned'; accepted: allowed, "),
        ({"findings": {"cache": 1}}, "findings", "accepted: an object"),
        ({"findings": []}, "findings", "accepted: an object"),
        ({"finding": {}}, "finding", "accepted: problem, platform, "),
        ({"problem": "/etc"}, "problem", "'/etc'; accepted: "),
        ({"platform": "nowhere"}, "platform", "'nowhere'; accepted: "),
        ({"backend": "cpp"}, "backend", "not timed on h200-sxm"),
        ({"backend": None}, "backend", "is needed"),
        ({"rounds": 0}, "rounds", "accepted"),
        ({"rounds": "5"}, "rounds", "accepted: a whole number"),
        ({"target": "soon"}, "target", "accepted"),
        ({"max_wall_h": "2"}, "max_wall_h", "'2'; accepted: a number of hours"),
        ({"max_device_h": -1}, "max_device_h", "accepted: hours up to 10,000"),
        ({"no_baselines": 1}, "no_baselines", "1; accepted: true, false"),
        ({"require_sanitizers": "yes"}, "require_sanitizers", "'yes'; accepted: true, false"),
        (
            {"backend": "triton", "require_sanitizers": True},
            "require_sanitizers",
            "no sanitizer runs on backend triton; accepted for: cpp, cuda",
        ),
        ({"own_kernels": "rows"}, "own_kernels", "accepted: a list of names"),
        ({"own_kernels": [1]}, "own_kernels", "accepted: a list of names"),
        ({"own_kernels": ["a*"]}, "own_kernels", "'a*'; accepted: a kernel's name, without"),
        ({"own_kernels": ["a", "a"]}, "own_kernels", "'a'; accepted: a kernel's name, without"),
        ({"own_kernels": ["at::rows"]}, "own_kernels", "'at::rows'; accepted: a kernel's name"),
        ({"own_kernels": [f"k{n}" for n in range(17)]}, "own_kernels", "17 names; accepted: at"),
    ],
)
def test_it_names_the_field_that_it_does_not_take(engineer, change, field, told):
    answer = post(engineer, BODY | change)
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert told in answer.json()["message"]
    assert not Campaign.objects.exists()


def test_it_starts_nothing_for_a_viewer(client_of):
    answer = post(client_of(), BODY)
    assert answer.status_code == 403
    assert "engineer role" in answer.json()["message"]
    assert not Campaign.objects.exists()


def test_it_tells_the_findings_of_every_candidate(client_of, monkeypatch, tmp_path):
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(
        "campaigns.steps.rounds.propose.proposer", lambda name: cast.Script([[KEEPS]])
    )
    made = cast.make_campaign(tmp_path)
    run_here(made.pk, cast.make_bench(cast.Judge()), lambda message: None)
    found = client_of().get(f"{ADDRESS}{made.pk}/findings/").json()
    assert found["findings_policy"]["cache"] == "flagged"
    first, second = found["rounds"]
    assert (first["round"], first["candidates"][0]["findings"]) == (1, [])
    (candidate,) = second["candidates"]
    assert (candidate["file"], candidate["chosen"]) == ("kernel.cpp", True)
    assert candidate["findings"] == [
        {
            "kind": "cache",
            "line": 2,
            "what": "kept stays in the process between calls",
            "text": "static int kept = 0; // <b>",
            "meaning": FindingKind.CACHE.meaning,
            "stance": "flagged",
        }
    ]
    assert client_of().get(f"{ADDRESS}999/findings/").status_code == 404
