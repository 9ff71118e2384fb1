"""A campaign's kernels are judged beside torch for real, with torch as the other arm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.models import Evaluation, EvaluationKind
from campaigns.models.kinds import EVALUATION_KINDS, TORCH
from tests.end_to_end.answer import Run
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.django_db]

# Compiling takes a minute; tests/evaluator/backends/test_torch.py has torch.compile judged.
QUICK = {
    kind: EVALUATION_KINDS[kind].words for kind in (EvaluationKind.EAGER, EvaluationKind.LIBRARY)
}


def test_it_is_compared_with_torch(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=4)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    monkeypatch.setattr("campaigns.steps.measuring.baselines.TORCH", QUICK)
    named = 'schema = 1\nlibrary = "torch.mul(x, 2, out=y)"'
    toml = small.TOML.replace("4096", "65536").replace("schema = 1", named)
    problem = small.write_problem(tmp_path, toml)
    wish = ["--problem", str(problem), "--backend", "cpp", "--rounds", "2"]
    answer = run("campaign", "run", "--local", *wish, "--json")
    assert answer.code == 0, answer.lines
    assert answer.data["state"] == "done"
    rows = Evaluation.objects.filter(kind__in=TORCH)
    assert {row.kind for row in rows} == set(QUICK)
    for row in rows:
        if not row.report:
            assert row.reason == "the best has changed before a device was free"
            continue
        # A busy host may be no clock; whatever it is, it is kept with its reason.
        assert row.outcome in ("passed", "broken_host", "cheated"), row.reason
        assert row.report["environment"]["compiler"].startswith("torch")
        assert row.reason
