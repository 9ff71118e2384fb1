"""A round's page, the report and the trail show what an incumbent is compiled to (R48)."""

import pytest

from campaigns.evaluator.contract import Function, MachineCode
from campaigns.reports.report import render_report
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.trails.exporters.archive import FORMATS
from campaigns.trails.exporters.judged_rounds import trail_of
from tests.campaigns.steps import cast

SOLVE = Function("void run<float>(x)", 40, {"vector_256": 8, "call": 2}, {"ex<b>pf": 2})
CODE = MachineCode("objdump, native", (SOLVE, Function("a|b", 2, {"other": 2})))
WORDS = "40 instructions: vectors of 256 bits 8, calls 2 (ex&lt;b&gt;pf)"


@pytest.fixture
def measured(db, monkeypatch, tmp_path):
    """A campaign of a baseline, a gain and a loss, whose kernels are all compiled to `code`."""

    def run(code):
        cast.set_the_scene(monkeypatch)
        script = cast.Script([["time 50"], ["time 80"]])
        monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
        campaign = cast.make_campaign(tmp_path, max_rounds=3)
        run_here(campaign.pk, cast.make_bench(cast.Judge(code=code)), lambda message: None)
        return cast.fresh(campaign)

    return run


@pytest.fixture
def panel(page, measured):
    def read(code, number):
        html = page.get(f"/c/{measured(code).pk}/r/{number}/code/").content.decode()
        start, end = html.find('aria-current="page"'), html.index('id="findings"')
        return html[start:end]

    return read


def test_r48_a_round_shows_what_its_instructions_do(panel):
    html = panel(CODE, 2)
    assert "void run&lt;float&gt;(x)" in html
    assert WORDS in html
    assert "Read by objdump, native." in html
    assert "1 of 2 targets met" in html


def test_it_says_why_there_is_nothing(panel):
    html = panel(MachineCode("cuobjdump, sm_90a", note="cuobjdump is not <here>"), 1)
    assert "No machine code: cuobjdump is not &lt;here&gt;." in html


def test_a_round_that_was_never_the_incumbent_has_none(panel):
    html = panel(CODE, 3)
    assert "data-function" not in html
    assert "Read by" not in html


def test_the_report_has_that_of_the_best_round(measured):
    assert WORDS in render_report(measured(CODE))


def test_the_trail_has_that_of_each_version(measured):
    files = dict(FORMATS["kernel-opt-skill"].files(trail_of(measured(CODE))))
    told = files["v1/ncu_summary.md"]
    assert "## Machine code\n\nAs listed by objdump, native." in told
    assert "vectors of 256 bits 8, calls 2" in told
    assert "<b>" not in told
    assert "Machine code" not in files["v2/ncu_summary.md"]
