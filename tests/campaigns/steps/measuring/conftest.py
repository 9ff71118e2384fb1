"""A campaign of a kernel with one knob, up to where its search is queued."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.models import CampaignState, Evaluation, EvaluationKind
from tests.campaigns.steps import cast
from tests.campaigns.steps.rounds.test_sweep import V0, KnobJudge


@pytest.fixture
def search(transactional_db: None, tmp_path: Path) -> Evaluation:
    """The queued search of round 2."""
    campaign = cast.make_campaign(tmp_path, V0, max_rounds=2)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, cast.make_bench(KnobJudge()))
    cast.step_until(campaign, CampaignState.VALIDATE)
    return Evaluation.objects.get(candidate__round__campaign=campaign, kind=EvaluationKind.SWEEP)
