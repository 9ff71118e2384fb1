"""Problems and campaigns from outside: kept whole, or refused in one line with nothing left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from campaigns.devices.problem_code import HostLacks
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import AbortReason, Campaign, CampaignState, Case, Problem, Protocol
from campaigns.records.problem_rows import LARGEST_FILE
from campaigns.steps.lifecycle.control import TargetUnknown
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.steps.problems import import_problem, materialise
from campaigns.steps.rounds.open_round import v0_source
from knowledge.models import Platform
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cast.make_platform()
    return cast.write_problem(tmp_path)


def test_it_keeps_the_same_files_as_one_problem(folder: Path, tmp_path: Path) -> None:
    first = import_problem(folder)
    assert import_problem(folder) == first
    assert [case.name for case in first.cases.all()] == ["one", "two"]
    (folder / "v0.cpp").write_text("time 99")
    assert import_problem(folder) != first
    written = materialise(first, tmp_path / "again")
    assert (written / "v0.cpp").read_text() == "time 100"


def test_v0_is_built_with_the_flags_that_its_problem_names(folder: Path) -> None:
    toml = folder / "problem.toml"
    toml.write_text(toml.read_text().replace("[tolerance]", '[flags]\ncpp = ["-O3"]\n[tolerance]'))
    campaign = Campaign(problem=import_problem(folder), backend="cpp")
    assert v0_source(campaign).flags == ("-O3",)


def outside(folder: Path) -> None:
    (folder.parent / "secret").write_text("x")
    (folder / "notes.txt").symlink_to(folder.parent / "secret")


def large(folder: Path) -> None:
    (folder / "data.txt").write_text("x" * (LARGEST_FILE + 1))


def binary(folder: Path) -> None:
    (folder / "data.bin").write_bytes(b"\xff\xfe")


def no_reference(folder: Path) -> None:
    (folder / "ref.py").write_text("def setup(**kw): ...")


def broken_code(folder: Path) -> None:
    (folder / "ref.py").write_text("def setup(:")


def path_outside(folder: Path) -> None:
    toml = folder / "problem.toml"
    toml.write_text(toml.read_text().replace('"v0.cpp"', '"../v0.cpp"'))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (outside, "tiny/notes.txt: is a link that leaves"),
        (large, "tiny/data.txt: 1,048,577 bytes; accepted: files of at most"),
        (binary, "tiny/data.bin: not UTF-8"),
        (no_reference, "tiny/ref.py: reference: no such function"),
        (broken_code, "tiny/ref.py:1: "),
        (path_outside, "leaves the problem folder"),
    ],
)
def test_it_refuses_a_bad_folder_and_stores_nothing(
    folder: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(folder)
    with pytest.raises(ProblemError, match=words) as caught:
        import_problem(folder)
    assert len(str(caught.value).splitlines()) == 1
    assert (Problem.objects.count(), Case.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"platform": "h900"}, "platform: unknown platform 'h900'; accepted: .*test-cpu"),
        ({"backend": "fortran"}, "backend: 'fortran' has no v0 in problem tiny; accepted: cpp"),
        ({"cases": ("three",)}, "case: 'three'; accepted for tiny on cpu: one, two"),
        ({"proposer": "oracle"}, "proposer: 'oracle'; accepted: search"),
        ({"title": "x" * 201}, "^title: 201 characters; accepted: at most 200$"),
        ({"seed": 2**63}, "seed: 9223372036854775808; accepted: 0 to 9223372036854775807"),
    ],
)
def test_it_refuses_a_wish_that_can_not_be_run(
    folder: Path, change: dict[str, Any], words: str
) -> None:
    wish = {"problem": folder, "platform": "test-cpu", "backend": "cpp"}
    with pytest.raises(CampaignRefused, match=words):
        create_campaign(Wish(**(wish | change)))
    assert (Campaign.objects.count(), Problem.objects.count()) == (0, 0)


def test_it_refuses_a_card_that_no_worker_can_measure_on(folder: Path) -> None:
    """Workers list cards of other vendors, and measure on none."""
    toml = folder / "problem.toml"
    toml.write_text(toml.read_text().replace('cpp = "v0.cpp"', 'triton = "v0.py"'))
    (folder / "v0.py").write_text("")
    Platform.objects.create(slug="mi-1", name="M", vendor="AMD", arch="A", kind="gpu", target="gfx")
    words = r"backend: 'triton' is not timed on mi-1 \(AMD gpu\); accepted there: none"
    with pytest.raises(CampaignRefused, match=words):
        create_campaign(Wish(folder, "mi-1", "triton"))
    assert not Campaign.objects.exists()


def test_it_keeps_a_title_of_its_own_making_within_the_limit(folder: Path) -> None:
    toml = folder / "problem.toml"
    toml.write_text(toml.read_text().replace('"Tiny"', f'"{"y" * 200}"'))
    campaign = create_campaign(Wish(folder, "test-cpu", "cpp"))
    assert (len(campaign.title), campaign.title[-2:]) == (200, "y…")


def test_it_shares_one_protocol_between_campaigns(folder: Path) -> None:
    wish = Wish(folder, "test-cpu", "cpp")
    first, second = create_campaign(wish), create_campaign(wish)
    assert first.protocol == second.protocol
    assert Protocol.objects.count() == 1
    assert first.state == CampaignState.DRAFT


def test_it_makes_another_protocol_of_required_sanitizers(folder: Path) -> None:
    wish = Wish(folder, "test-cpu", "cpp")
    usual = create_campaign(wish).protocol
    strict = create_campaign(replace(wish, require_sanitizers=True)).protocol
    assert "require_sanitizers" not in usual.rules
    assert strict.rules == usual.rules | {"require_sanitizers": True}
    assert strict.digest != usual.digest


@pytest.mark.parametrize("goal", ["90%", "baseline:1.5", "time_us<=30"])
def test_law_1_an_unknown_ceiling_blocks_whatever_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str
) -> None:
    monkeypatch.setattr("campaigns.records.target.ceilings.compute_ceilings", lambda *_, **__: [])
    with pytest.raises(TargetUnknown, match=r"^platform: compute: UNKNOWN .* wiki ceilings"):
        cast.make_campaign(tmp_path, goal=goal)
    assert Campaign.objects.get().state == CampaignState.DRAFT


def test_it_cites_every_figure_of_the_target(tmp_path: Path) -> None:
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.BASELINE)
    case = cast.fresh(campaign).target["cases"]["two"]
    assert case["floor_us"] == pytest.approx(10.0)
    assert case["target_us"] == pytest.approx(10 / 0.9)
    assert case["bandwidth"]["citation"] == cast.BANDWIDTH.citation
    assert case["compute"]["citation"] == cast.COMPUTE.citation


def test_it_aborts_when_the_problems_own_code_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise ProblemError("tiny/ref.py: setup: no outputs")

    monkeypatch.setattr("campaigns.steps.lifecycle.set_target.work_model", fails)
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.ABORTED)
    ended = cast.fresh(campaign)
    assert ended.stop_reason == AbortReason.PROBLEM_UNUSABLE
    assert ended.stop_sentence == "tiny/ref.py: setup: no outputs"


def test_a_host_that_cannot_run_the_problems_code_pauses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(*_: Any) -> None:
        raise HostLacks("this host lacks network, mounts")

    monkeypatch.setattr("campaigns.steps.lifecycle.set_target.work_model", lacks)
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, CampaignState.PAUSED)
    assert campaign.events.filter(kind="host_lacks", message__contains="lacks network").exists()
