"""Page, report, API, command and trail say how the best stands beside torch."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.urls import reverse

from campaigns.evaluator.contract import CopiedOutput, Outcome
from campaigns.models import Evaluation, EvaluationKind
from tests.campaigns.finished import finished
from tests.campaigns.sample import HOSTILE
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign, whole_round

COPIED = (CopiedOutput(f"out{HOSTILE}", 33_600_000),)


class NoCompiler(cast.Judge):
    """torch runs eagerly, and compiles nothing; whatever runs copies what it returns."""

    def evaluate(self, job, beat=None):
        report = super().evaluate(job, beat)
        if "torch.compile" not in job.candidate.text:
            return replace(report, cases=tuple(map(copying, report.cases)))
        why = f"No working C++ compiler found {HOSTILE}"
        return replace(report, outcome=Outcome.BUILD_FAILED, reason=why, cases=())


def copying(case):
    arms = {"candidate": case.candidate, "incumbent": case.incumbent}
    return replace(case, **{a: t and replace(t, copied=COPIED) for a, t in arms.items()})


@pytest.fixture
def beside(db, tmp_path, monkeypatch):
    """A finished campaign: v0 at 100 µs, torch at 100 µs, the best at 50 µs."""
    cast.set_the_scene(monkeypatch)
    return finished(tmp_path, [["time 50"]], judge=NoCompiler, baselines=True)


@pytest.mark.parametrize("name", ["campaign", "report", "report_file"])
def test_a_page_has_a_row_for_each(page, beside, name):
    body = page.get(reverse(name, args=[beside.pk])).content.decode()
    rows = dict(re.findall(r'<tr data-torch="([\w-]+)">(.*?)</tr>', body, re.DOTALL))
    assert list(rows) == ["eager", "compile", "compile-max-autotune", "library"]
    assert 'data-baseline="torch eager"' in rows["eager"]
    assert 'data-n="10"' in rows["eager"]
    assert "Each timed call of torch eager copies `out" in rows["eager"]
    assert "(33.6 MB) into its place; a caller that takes" in rows["eager"]
    assert "round 2, the best" in rows["eager"]
    assert "not measured: build failed: No working C++ compiler found" in rows["compile"]
    assert "problem.toml names no `library`" in rows["library"]
    assert HOSTILE not in body


def test_the_page_says_what_was_asked_for(page, beside):
    body = whole_campaign(page, beside)
    assert "<dd>torch eager, torch.compile, torch.compile, max-autotune" in body


def test_a_round_shows_the_measurements_of_its_own_kernel_alone(page, beside):
    body = whole_round(page, beside, 2)
    assert "No working C++ compiler" not in body


def test_a_round_says_what_both_sides_copy(page, beside):
    body = whole_round(page, beside, 2)
    own, rival = re.findall("data-note>(.*?)</p>", body)
    assert own.startswith("Each timed call copies `out")
    assert rival.startswith("Each timed call of the incumbent copies `out")
    assert HOSTILE not in body


@pytest.mark.parametrize("name", ["campaign", "report", "report_file"])
def test_a_page_says_beside_the_gain_what_v0_copies(page, beside, name):
    body = page.get(reverse(name, args=[beside.pk])).content.decode()
    told = re.search("<section[^>]*data-copies.*?</section>", body).group()
    best, first = re.findall("<p>(.*?)</p>", told)
    assert best.startswith("Each timed call of the best copies `out")
    assert first.startswith("Each timed call of v0 copies `out")


def test_the_api_has_gains_and_reasons(page, beside):
    found = page.get(f"/api/v1/campaigns/{beside.pk}/").json()["baselines"]
    eager, compiled = found[0], found[1]
    assert (eager["baseline"], eager["beside_round"], eager["beside_best"]) == ("eager", 2, True)
    assert eager["gain"]["pairs"] == 10
    assert eager["gain"]["low"] <= eager["gain"]["gain"] == pytest.approx(1.0, rel=0.01)
    assert [case["case"] for case in eager["cases"]] == ["one", "two"]
    assert (compiled["outcome"], compiled["gain"]) == ("build_failed", None)
    assert compiled["why"].startswith("not measured: build failed")
    assert eager["copied"] == [{"name": COPIED[0].name, "nbytes": 33_600_000}]
    assert eager["note"].startswith("Each timed call of torch eager copies")
    assert (compiled["copied"], compiled["note"]) == ([], "")


def test_the_api_has_what_an_evaluation_copies(page, beside):
    evaluation = page.get(f"/api/v1/campaigns/{beside.pk}/").json()["baselines"][0]["evaluation"]
    found = page.get(f"/api/v1/evaluations/{evaluation}/").json()
    copied = [{"name": COPIED[0].name, "nbytes": 33_600_000}]
    assert [case["copied"] for case in found["cases"]] == [copied, copied]
    assert [case["incumbent_copied"] for case in found["cases"]] == [copied, copied]
    assert [note.partition(" copies ")[0] for note in found["notes"]] == [
        "Each timed call",
        "Each timed call of the incumbent",
    ]


def test_the_command_tells_the_same(capsys, beside):
    call_command("campaign", "show", str(beside.pk))
    text = capsys.readouterr().out
    assert "torch eager: 100 µs; round 2 is 2.00× faster" in text
    assert "Each timed call of torch eager copies `out" in text
    assert "against torch eager (95% bootstrap of the geometric-mean ratio, n=10 pairs)" in text
    call_command("campaign", "show", str(beside.pk), "--json")
    found = json.loads(capsys.readouterr().out)["baselines"]
    assert [row["baseline"] for row in found][:2] == ["eager", "compile"]
    assert found[0]["copied"][0]["nbytes"] == 33_600_000
    call_command("round", "show", str(beside.pk), "2")
    assert "note: Each timed call of the incumbent copies `out" in capsys.readouterr().out


def test_the_trail_tells_the_same(page, beside):
    answer = page.get(reverse("trail", args=[beside.pk]))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        name = next(name for name in packed.namelist() if name.endswith("benchmark.md"))
        text = packed.read(name).decode()
    assert "- torch eager: 100 µs; round 2 is 2.00× faster" in text
    assert "- torch.compile: not measured: build failed: No working C++ compiler" in text
    assert "- Each timed call of v0 copies " in text
    assert "N/A — not measured in this campaign" not in text
    assert HOSTILE not in text


def test_a_finished_page_goes_on_until_torch_is_measured(page, beside):
    address, headers = reverse("campaign", args=[beside.pk]), {"HX-Request": "true"}
    assert page.get(address, headers=headers).status_code == 286
    assert "hx-get" not in poll_of(page.get(address).content.decode())
    Evaluation.objects.create(
        candidate=beside.incumbent, kind=EvaluationKind.EAGER, attempt=2, state="queued"
    )
    assert page.get(address, headers=headers).status_code == 200
    assert "hx-get" in poll_of(page.get(address).content.decode())


def poll_of(body: str) -> str:
    return re.search(r'<div id="poll".*?</div>', body, re.DOTALL).group()


# Last: what it begins with stands around all later tests of this module.
def test_the_page_of_a_campaign_without_says_nothing_of_them(page, sample):
    body = whole_campaign(page, sample)
    assert 'id="baselines"' not in body
    assert "<dt>Beside the best</dt><dd>nothing</dd>" in body
