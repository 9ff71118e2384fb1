"""A missing ceiling: the gap is a pitfall, and a placeholder counts in no headline (R3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from campaigns.management.facts import campaign_details, campaign_text
from campaigns.models import Campaign, CampaignState, IllegalTransition, Placeholder
from campaigns.records.campaigns import target_of
from campaigns.records.judged_rounds import standard_of
from campaigns.records.target.ceilings import missing_spec_of, pitfalls_of
from campaigns.reports.report import render_report
from campaigns.rules.target.ceilings import PLACEHOLDER
from campaigns.steps.lifecycle.control import TargetUnknown, confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.lifecycle.set_target import PlaceholderRefused, allow_placeholder
from campaigns.steps.worker import WorkerContext
from knowledge.curation.errors import Forbidden
from knowledge.specs.cited import UNKNOWN
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

Put = Callable[..., cast.Script]


@pytest.fixture(autouse=True)
def no_bandwidth(known_target: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "campaigns.records.target.ceilings.bandwidth_ceilings", lambda platform, **_: []
    )


@pytest.fixture
def curator() -> User:
    return person("cora", "curator")


@pytest.fixture
def draft(tmp_path: Path) -> Campaign:
    return create_campaign(Wish(cast.write_problem(tmp_path), cast.make_platform().slug, "cpp"))


def person(name: str, role: str) -> User:
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name=role))
    return user


def finished(campaign: Campaign, bench: WorkerContext) -> Campaign:
    confirm(campaign)
    return run_here(campaign.pk, bench, lambda message: None)


def test_it_writes_the_gap_into_the_pitfalls(
    draft: Campaign, bench: WorkerContext, script: Put, curator: User
) -> None:
    script(["time 50"])
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)
    campaign = finished(draft, bench)
    (pitfall,) = (one for one in pitfalls_of(campaign) if one.kind == "unknown_spec")
    assert (campaign.state, campaign.target["state"]) == (CampaignState.DONE, PLACEHOLDER)
    assert pitfall.message == (
        f"bandwidth: {UNKNOWN}: no approved copy_bandwidth of test-cpu; there is no target."
    )
    assert pitfall.how_to_obtain == "run `.venv/bin/python manage.py wiki ceilings` on this device"
    said = campaign_details(campaign)["pitfalls"][0]
    assert (said["kind"], said["how_to_obtain"]) == (pitfall.kind, pitfall.how_to_obtain)
    assert f"pitfall: unknown value: {pitfall.message}" in campaign_text(campaign)
    assert 'data-pitfall="unknown_spec"' in render_report(campaign)


def test_it_names_the_peaks_that_a_gpu_lacks(draft: Campaign) -> None:
    draft.platform.kind = "gpu"
    gap = missing_spec_of(draft, "compute")
    assert "peak_fp32_matrix or peak_fp32 of test-cpu" in gap.message
    assert "add a sourced line for peak_fp32 to the document of test-cpu" in gap.how_to_obtain
    assert "memory_bandwidth" in missing_spec_of(draft, "bandwidth").message


def test_it_says_placeholder_everywhere_and_lets_nothing_rest_on_it(
    draft: Campaign, bench: WorkerContext, script: Put, curator: User
) -> None:
    # By the placeholder the floor would be 100 µs: v0 at 100 would be at the roof, 50 impossible.
    script(["time 50"])
    allow_placeholder(draft, "bandwidth", "1 GB/s", "the sheet comes next week", curator)
    campaign = finished(draft, bench)
    target = campaign.target
    assert (target["state"], target["bandwidth"]) == (PLACEHOLDER, [])
    assert target["provisional"]["one"]["floor_us"] == pytest.approx(100.0)
    assert target["placeholders"]["bandwidth"]["allowed_by"] == "cora"
    assert "floor_us" not in target["cases"]["one"]
    # No stop by target, no `invalid` by the floor, no share of the roof.
    assert campaign.stop_reason == "no_ideas_left"
    words = [(r.verdict.word, r.verdict.reason) for r in campaign.rounds.order_by("number")]
    assert words == [("accepted", "baseline"), ("accepted", "promoted")]
    assert campaign.incumbent.text == "time 50"
    found = target_of(campaign)
    assert (found.missing, found.cases["one"].floor_us) == (PLACEHOLDER, None)
    assert found.provisional["one"].floor_us == pytest.approx(100.0)
    kinds = [pitfall.kind for pitfall in pitfalls_of(campaign)]
    assert kinds == ["unknown_spec", "placeholder"]
    report = render_report(campaign)
    assert report.count(PLACEHOLDER) >= 4
    assert "allowed by cora: the sheet comes next week" in report
    assert 'aria-label="share of' not in report
    said = campaign_details(campaign)
    assert said["target"] == PLACEHOLDER
    assert said["placeholders"]["bandwidth"]["shown"] == "1 GB/s"


def test_it_judges_by_the_cited_ceiling_beside_a_placeholder(
    draft: Campaign, curator: User
) -> None:
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)
    confirm(draft)
    cast.step_until(draft, CampaignState.BASELINE)
    floor = standard_of(cast.fresh(draft), has_incumbent=True).floors["one"]
    assert floor.limit == cast.COMPUTE
    assert floor.floor_us == pytest.approx(0.01 / 1.03)


def test_it_gives_way_to_a_value_that_is_cited_by_then(
    draft: Campaign, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)
    monkeypatch.setattr(
        "campaigns.records.target.ceilings.bandwidth_ceilings", lambda *_, **__: [cast.BANDWIDTH]
    )
    confirm(draft)
    cast.step_until(draft, CampaignState.BASELINE)
    target = cast.fresh(draft).target
    assert (target["state"], target["placeholders"], target["provisional"]) == ("known", {}, {})
    assert target["bandwidth"] == [asdict(cast.BANDWIDTH)]
    assert not pitfalls_of(draft)


@pytest.mark.parametrize("role", ["viewer", "engineer"])
def test_it_is_allowed_by_no_one_else(draft: Campaign, role: str) -> None:
    with pytest.raises(Forbidden, match="curator or lead"):
        allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", person("pat", role))
    with pytest.raises(Forbidden):
        allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", None)
    assert not Placeholder.objects.exists()


def test_it_is_allowed_by_a_lead(draft: Campaign) -> None:
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", person("lea", "lead"))
    assert Placeholder.objects.get().value == 1e9


def test_law_1_an_assumption_for_another_gap_opens_nothing(
    draft: Campaign, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.records.target.ceilings.compute_ceilings", lambda *_, **__: [])
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)
    with pytest.raises(TargetUnknown, match=r"^platform: compute: UNKNOWN"):
        confirm(draft)
    allow_placeholder(draft, "compute", "1 TFLOPS", "soon", curator)
    assert confirm(draft).again


def test_r1_it_is_refused_once_the_goal_is_frozen(
    draft: Campaign, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = "campaigns.records.target.ceilings.bandwidth_ceilings"
    monkeypatch.setattr(at, lambda platform, **_: [cast.BANDWIDTH])
    confirm(draft)
    with pytest.raises(IllegalTransition, match="confirming freezes the goal"):
        allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)


@pytest.mark.parametrize(
    ("question", "value", "reason", "field", "words"),
    [
        ("latency", "1 s", "soon", "question", "accepted: bandwidth, compute"),
        ("compute", "1 TFLOPS", "soon", "question", "is known: fma_throughput: 100 Gop/s <- "),
        ("bandwidth", "about 1 TB/s", "soon", "value", "not a plain number"),
        ("bandwidth", "~1 TB/s", "soon", "value", "not a plain number"),
        ("bandwidth", "1 TFLOPS", "soon", "value", "does not convert to B/s"),
        ("bandwidth", "0 TB/s", "soon", "value", "more than 0 B/s"),
        ("bandwidth", f"1{'0' * 90} B/s", "soon", "value", "at most 80"),
        ("bandwidth", "1 TB/s", "  ", "reason", "is needed"),
        ("bandwidth", "1 TB/s", "x" * 501, "reason", "at most 500"),
        ("bandwidth", "1 TB/s", "soon\0", "reason", "is needed"),
    ],
)
def test_it_refuses_what_is_no_placeholder(
    draft: Campaign, curator: User, question: str, value: str, reason: str, field: str, words: str
) -> None:
    with pytest.raises(PlaceholderRefused, match=words) as caught:
        allow_placeholder(draft, question, value, reason, curator)
    assert caught.value.field == field
    assert not Placeholder.objects.exists()


def test_it_keeps_the_first_of_two(draft: Campaign, curator: User) -> None:
    allow_placeholder(draft, "bandwidth", "1 GB/s", "soon", curator)
    with pytest.raises(PlaceholderRefused, match="has a placeholder already"):
        allow_placeholder(draft, "bandwidth", "2 GB/s", "soon", curator)
    assert Placeholder.objects.get().shown == "1 GB/s"


def test_it_is_allowed_from_the_command_line(
    draft: Campaign, curator: User, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["placeholder", str(draft.pk), "bandwidth", "1 GB/s", "--why", "soon"]
    call_command("campaign", *words, "--by", "cora", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["value"], said["unit"], said["allowed_by"]) == (1e9, "B/s", "cora")
    person("enzo", "engineer")
    for name, code in (("enzo", 3), ("nobody", 2), ("cora", 1)):
        with pytest.raises(CommandError) as caught:
            call_command("campaign", *words, "--by", name)
        assert caught.value.returncode == code
