"""A host without a GPU really builds what a search on one has handed out."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from campaigns.devices.launch import EvaluatorService
from campaigns.devices.processes import new_holder
from campaigns.devices.sweep.loop import build_cache_of
from campaigns.devices.sweep.shared_work import SweepOrders
from campaigns.evaluator.contract import backends as base
from campaigns.evaluator.contract.files import dump_line
from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Sweep,
    SweepOrder,
)
from campaigns.models.transitions import move
from campaigns.problems.shipped import problem_folder
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.measuring import build_for_search as building
from knowledge.models import Platform
from tests.campaigns.steps import cast
from tests.evaluator.conftest import service

__all__ = ["service"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """One on a GPU that is not here, whose baseline is queued."""
    Platform.objects.create(
        slug="card", name="Card", vendor="NVIDIA", arch="sm_90", kind="gpu", target="sm_90a"
    )
    policy = StopPolicy(max_rounds=2)
    wish = Wish(problem=problem_folder("softmax"), platform="card", backend="triton", policy=policy)
    made = create_campaign(wish)
    confirm(made)
    cast.step_until(made, CampaignState.BASELINE)
    return made


@pytest.mark.skipif(not base.get("triton").compiler(), reason="no triton here")
def test_the_artefact_comes_back_in_the_row(
    campaign: Campaign,
    service: EvaluatorService,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    candidate = Evaluation.objects.get(candidate__round__campaign=campaign).candidate
    plan = Sweep.objects.create(
        round=candidate.round, knobs=[], size="1", strategy="random", most_points=1, most_s=60.0
    )
    search, share = (
        Evaluation.objects.create(candidate=candidate, kind=kind)
        for kind in (EvaluationKind.SWEEP, EvaluationKind.BUILD)
    )
    now = timezone.now()
    move(search, EvaluationState.RUNNING, holder=new_holder("gpu"), heartbeat_at=now)
    (tmp_path / "there").mkdir()
    place = build_cache_of(building._job(share, tmp_path / "there")).place_of(candidate.source)
    line = dump_line(candidate.source)
    SweepOrders(plan).put([SweepOrder(number=1, params={}, source=line, digest=place.name)])
    done = SweepOrder.objects.exclude(built="")
    monkeypatch.setattr(building, "is_searched", lambda share: not done.exists())

    assert building.build_for_search(share.pk, "builder", service)
    (order,) = SweepOrders(plan).collect()
    with zipfile.ZipFile(io.BytesIO(bytes(order.artefact))) as packed:
        names = set(packed.namelist())
    assert names == {*base.get("triton").artefacts, "facts.json"}
    share.refresh_from_db()
    assert (share.outcome, share.reason) == ("passed", "1 variants built.")
