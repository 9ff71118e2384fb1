"""What both arms take on inputs that they have seen: measured beside the samples, on one case."""

from __future__ import annotations

from dataclasses import replace

from campaigns.evaluator.contract import Case, Outcome
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.contract.layout import Plain, lay_out
from campaigns.evaluator.service.repeat_bursts import moved
from tests.evaluator import small

CASES = (Case("n4096", {"N": 4096}), Case("n8192", {"N": 8192}))
WEIGHTS = small.TOML.replace("schema = 1", 'schema = 1\nweights = ["x"]')

# A gain that counts is never absent, so that it is explained.
ANY_GAIN = -0.99


def test_r20_it_tries_again_on_one_case_of_both_arms(judge):
    report = judge(small.source(), incumbent=small.source(), cases=CASES, noise_floor=ANY_GAIN)
    assert report.outcome is Outcome.PASSED, report.reason
    tried = [case for case in report.cases if case.candidate.repeats]
    assert len(tried) == 1
    for arm in (tried[0].candidate.repeats, tried[0].incumbent.repeats):
        assert len(arm.fresh_us) == len(arm.same_us) == len(arm.again_us) >= 3
        assert arm.kept_us == ()
        assert min(*arm.fresh_us, *arm.same_us, *arm.again_us) > 0
    assert load_report(dump(report)) == report


def test_r20_it_tries_weights_that_are_kept(judge, problem):
    (problem / "problem.toml").write_text(WEIGHTS)
    report = judge(small.source(), incumbent=small.source(), noise_floor=ANY_GAIN)
    assert report.outcome is Outcome.PASSED, report.reason
    seen = report.cases[0].candidate.repeats
    assert len(seen.kept_us) == len(seen.fresh_us)


def test_r20_a_lone_arm_has_nothing_beside_it(judge):
    report = judge(small.source())
    assert report.cases[0].candidate.repeats is None


def test_it_names_a_weight_that_is_no_input(judge, problem):
    (problem / "problem.toml").write_text(WEIGHTS.replace('["x"]', '["y"]'))
    report = judge(small.source())
    assert report.outcome is Outcome.BROKEN_HOST
    assert "weights: 'y' is no tensor that is only read; accepted: x" in report.reason


def test_a_moved_layout_lies_so_many_slots_on():
    layout = lay_out([Plain("x", "float32", (64,), False), Plain("y", "float32", (64,), True)])
    after = moved(layout, 3)
    assert after.stride == layout.stride
    assert [arg.offset - 3 * layout.stride for arg in after.tensors] == [
        arg.offset for arg in layout.tensors
    ]
    assert replace(after, args=layout.args) == layout
