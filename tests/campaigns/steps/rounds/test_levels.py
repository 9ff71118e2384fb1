"""A sweep is screened on representative cases, and its best is decided on all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.models import Campaign
from campaigns.records.cases import cases_of
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.verdict.case_limits import Level
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from tests.campaigns.steps import cast

CASE = '[[case]]\nname = "{name}"\n{more}params = {{ N = {n} }}\n'
PLAIN = [("one", "", 1), ("two", "", 2), ("three", "", 1)]
DISTRIBUTIONS = ("uniform", "k2_cf1.0", "k1_cf1.25", "empty_group", "half_in_one")


@pytest.fixture
def made(tmp_path: Path, db: None):
    def go(cases, more: str = "") -> Campaign:
        cast.make_platform()
        head = cast.TOML[: cast.TOML.index("[[case]]")]
        head = head.replace("[files]", f'config_class = ["N"]\n{more}\n[files]')
        folder = tmp_path / "tiny"
        folder.mkdir()
        listed = "".join(CASE.format(name=name, more=extra, n=n) for name, extra, n in cases)
        (folder / "problem.toml").write_text(head + listed)
        (folder / "ref.py").write_text(cast.REF)
        (folder / "v0.cpp").write_text("time 100")
        policy = StopPolicy(max_rounds=3)
        wish = Wish(problem=folder, platform="test-cpu", backend="cpp", policy=policy, seed=7)
        campaign = create_campaign(wish)
        confirm(campaign)
        return campaign

    return go


def test_r18_screening_measures_the_representatives_and_the_verdict_all(made, bench, judge, script):
    script(["time 60", "time 50"])
    campaign = run_here(made(PLAIN).pk, bench, lambda message: None)
    measured = [tuple(case.name for case in job.cases) for job in judge.jobs]
    everything = ("one", "two", "three")
    # Baseline; two screened; the best of them decided, and measured again; the last comparison.
    assert measured[:5] == [everything, ("one", "two"), ("one", "two"), everything, everything]
    assert set(measured[5:]) <= {everything}
    verdict = campaign.rounds.get(number=2).verdict
    assert verdict.word == "accepted"
    level = next(gate for gate in verdict.gates if gate["name"] == "level")
    assert level["found"] == "full: all 3 cases"
    said = campaign.events.get(kind="screened").message
    assert said.endswith("variant 2 is the best of 2, quick: 2 representative of 3 cases")


def test_r18_a_sweep_of_which_none_passes_is_judged_on_the_quick_level(made, bench, script):
    script(["wrong", "crash"])
    campaign = run_here(made(PLAIN).pk, bench, lambda message: None)
    verdict = campaign.rounds.get(number=2).verdict
    assert (verdict.word, verdict.reason) == ("rejected", "wrong_result")
    level = next(gate for gate in verdict.gates if gate["name"] == "level")
    assert level["found"] == "quick: 2 representative of 3 cases"


def test_r18_a_problem_names_its_representatives(made):
    campaign = made(PLAIN, 'representative = ["three"]')
    assert cases_of(campaign, Level.QUICK) == ("two", "three")
    assert cases_of(campaign, Level.FULL) == ("one", "two", "three")


def test_r22_the_quick_level_of_a_grouped_operator_has_a_skewed_case(made):
    cases = [(name, f'distribution = "{name}"\n', 1) for name in DISTRIBUTIONS]
    campaign = made(cases, "grouped = true")
    assert cases_of(campaign, Level.QUICK) == ("uniform", "half_in_one")
    params = campaign.problem.cases.get(name="half_in_one").params
    assert params == {"N": 1, "distribution": "half_in_one"}
