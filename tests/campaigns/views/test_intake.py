"""What is asked beyond the goal: on the page, in the command, frozen, and checked by records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from campaigns.lineage.records import branch_of
from campaigns.models import Campaign, CampaignState
from campaigns.records.judged_rounds import standard_of
from campaigns.reports.checklist import checklist
from campaigns.reports.report import render_report
from campaigns.rules.stop.intake import Intake, intake_from
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.views.new_campaign import CampaignForm
from knowledge.curation.projects import new_project
from tests.campaigns.sample import PLATFORM, PROBLEM
from tests.campaigns.views.conftest import whole_campaign

SAID = {
    "guard": "strict",
    "git_branch": "optimize/mine",
    "reference_project": "a project of ours",
    "constraints": "<b>no</b> tensor cores",
    "notes": "for the demo",
}
ASKED = {"problem": "softmax", "platform": PLATFORM, "backend": "cuda", "goal": "90", "rounds": "8"}


def draft_of(page, **more):
    before = {*Campaign.objects.values_list("pk", flat=True)}
    answer = page.post("/c/new", {**ASKED, **SAID, "draft": "1", **more})
    made = Campaign.objects.exclude(pk__in=before).first()
    return answer, made


def test_the_page_shows_defaults_and_what_follows(page, sample):
    body = page.get("/c/new", {"platform": PLATFORM, "backend": "cuda"}).content.decode()
    for name in SAID:
        assert f'id="new-{name}"' in body
    assert f"<dd>{sample.platform.arch}, from the platform</dd>" in body
    assert "CUDA C++, from the backend" in body
    assert 'value="auto"' in body


def test_a_draft_of_the_page_has_what_was_said(page, sample):
    answer, made = draft_of(page)
    assert answer.headers["Location"] == reverse("campaign", args=[made.pk])
    assert made.state == CampaignState.DRAFT
    assert made.intake == SAID | {"baselines": True}
    assert branch_of(made) == "optimize/mine"
    body = page.get(answer.headers["Location"]).content.decode()
    assert "&lt;b&gt;no&lt;/b&gt; tensor cores" in body
    assert "optimize/mine" in body


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("git_branch", "a..b", ">Git branch</a>: &#x27;a..b&#x27;; accepted: auto"),
        ("rounds", "120", ">Rounds at most</a>: a campaign has fewer than 120 rounds"),
        ("notes", "x" * 4001, ">Notes</a>: 4001 characters; accepted: at most 4000"),
    ],
)
def test_the_page_says_what_is_wrong(page, sample, field, text, said):
    answer, made = draft_of(page, **{field: text})
    assert (answer.status_code, made) == (422, None)
    assert said in answer.content.decode()


def test_an_error_calls_a_field_as_the_form_does(page, sample, engineer):
    new_project("p", [engineer.username], None)
    body = page.get("/c/new", {"platform": PLATFORM, "backend": "cuda"}).content.decode()
    for name, field in CampaignForm.base_fields.items():
        label = field.label
        choice = f'name="{name}"' in body and label in body
        legend = f'<legend id="new-{name}">{label} ' in body
        assert f'<label for="new-{name}">{label}</label>' in body or choice or legend, name


def test_r13_a_strict_guard_is_what_its_rounds_are_judged_by_and_is_shown(page, sample, capsys):
    assert standard_of(sample, has_incumbent=True).guard is GuardPolicy.DEFAULT
    assert "default: a round is rejected" in render_report(sample)
    said = ["--problem", "softmax", "--platform", PLATFORM, "--backend", "cuda", "--draft"]
    call_command("campaign", "new", *said, "--guard", "strict", "--json")
    made = Campaign.objects.get(pk=json.loads(capsys.readouterr().out)["campaign"])
    assert standard_of(made, has_incumbent=True).guard is GuardPolicy.STRICT
    words = "strict: a round is rejected if a protected case loses more than 3 %"
    call_command("campaign", "show", str(made.pk))
    assert f"guard: {words}" in capsys.readouterr().out
    assert words in whole_campaign(page, made)
    assert words in render_report(made)


def test_r13_the_form_offers_the_guards(page, sample):
    body = page.get("/c/new", {"platform": PLATFORM, "guard": "strict"}).content.decode()
    assert '<option value="strict" selected>strict: a round is rejected' in body
    assert "--guard strict" in body
    answer, made = draft_of(page, guard="lax")
    assert (answer.status_code, made) == (422, None)
    assert ">Guard</a>: &#x27;lax&#x27;; accepted: default, strict" in answer.content.decode()


@pytest.mark.storage
def test_r1_what_was_said_is_frozen_when_it_is_confirmed(sample):
    made = create_campaign(Wish(PROBLEM, PLATFORM, "cuda", intake=Intake(notes="before")))
    change = f"UPDATE campaigns_campaign SET intake = '{{}}' WHERE id = {made.pk}"
    with transaction.atomic():
        connection.cursor().execute(change)
        transaction.set_rollback(True)
    confirm(made)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        connection.cursor().execute(change)
    assert intake_from(Campaign.objects.get(pk=made.pk).intake).notes == "before"


def test_a_draft_is_checked_by_records(page, sample):
    _, made = draft_of(page)
    found = {one.question: one for one in checklist(made)}
    device = found["Is there a device of this platform?"]
    assert device.href.startswith(reverse("workers"))
    ceiling = found["Is the ceiling of bandwidth cited?"]
    assert (ceiling.yes, "docs/hardware/h200-sxm.md:L" in ceiling.source) == (True, True)
    judged = found["Has v0 passed its checks?"]
    # The last time is that of the campaign that still runs.
    assert judged.yes is True
    assert judged.href.endswith("/r/1/")
    assert found["Do the tools work on that device?"].source.startswith("round ")
    assert found["Is there enough disk space?"].yes is not None
    body = page.get(reverse("campaign", args=[made.pk])).content.decode()
    for one in found.values():
        assert one.question in body
    answers = body.split('id="checklist"')[1].split("</section>")[0]
    assert answers.count('class="gate pass"') == sum(one.yes is True for one in found.values())
    assert answers.count('class="gate open"') == sum(one.yes is None for one in found.values())
    # Nobody has looked for ceilings yet, so none is missing.
    assert "The roof is drawn once the target is set." in body
    assert "UNKNOWN" not in body
    confirm(made)
    assert "Before you confirm" not in page.get(
        reverse("campaign", args=[made.pk])
    ).content.decode()  # fmt: skip


def test_what_no_record_says_is_not_known(sample):
    made = create_campaign(Wish(PROBLEM, PLATFORM, "triton"))
    found = {one.question: one for one in checklist(made)}
    assert found["Has v0 passed its checks?"].word == "not known"
    assert found["Do the tools work on that device?"].word == "not known"


def test_the_command_shows_a_manifest_before_it_creates(sample, capsys, tmp_path):
    path = tmp_path / "manifest.yaml"
    path.write_text(
        "target_op: softmax\ntarget_backend: CUDA\ntarget_gpu: NVIDIA H200\n"
        "max_iterations: 12\ngit_branch: optimize/theirs\nproject_skill: turbo\n"
        "constraints: keep the interface\n"
    )
    before = Campaign.objects.count()
    call_command("campaign", "new", "--from", str(path), "--rounds", "9")
    said = capsys.readouterr().out
    assert f"platform: {PLATFORM} (manifest.yaml:L3)" in said
    assert "rounds: 9 (typed)" in said
    assert "git_branch: optimize/theirs (manifest.yaml:L5)" in said
    assert "not taken: manifest.yaml:L6: project_skill: turbo: kopt has no such choice" in said
    assert "nothing is created yet" in said
    assert Campaign.objects.count() == before
    call_command("campaign", "new", "--from", str(path), "--yes", "--draft", "--json")
    told = json.loads(capsys.readouterr().out)
    made = Campaign.objects.get(pk=told["campaign"])
    assert (made.backend, made.platform.slug) == ("cuda", PLATFORM)
    assert made.stop_policy["max_rounds"] == 12
    assert intake_from(made.intake) == Intake(
        git_branch="optimize/theirs", constraints="keep the interface"
    )
    assert told["architecture"] == made.platform.arch


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backend", "cpp"], "problem: is needed; accepted: --problem, or a manifest"),
        (["--problem", "softmax", "--backend", "cpp", "--rounds", "120"],
         "--rounds: 120; accepted: 1 to 119, as a campaign has fewer than 120 rounds"),
        (["--from", "gone.yaml"], "gone.yaml: no such file"),
    ],
)  # fmt: skip
def test_the_command_says_what_is_wrong(db, words, said):
    assert not Path("gone.yaml").exists()
    with pytest.raises(CommandError, match=said):
        call_command("campaign", "new", *words)
