import pytest

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.case_limits import CaseEffect, GuardPolicy, case_effect


@pytest.mark.parametrize(
    ("low", "gain", "high", "policy", "expected"),
    [
        (-0.08, -0.07, -0.051, GuardPolicy.DEFAULT, CaseEffect.REJECT),
        (-0.08, -0.06, -0.049, GuardPolicy.DEFAULT, CaseEffect.WARN),
        (-0.08, -0.06, -0.031, GuardPolicy.STRICT, CaseEffect.REJECT),
        (-0.03, -0.02, -0.011, GuardPolicy.STRICT, CaseEffect.WARN),
        (-0.02, -0.01, 0.01, GuardPolicy.DEFAULT, CaseEffect.UNCHANGED),
        (-0.01, 0.03, 0.05, GuardPolicy.DEFAULT, CaseEffect.UNCHANGED),
        (0.01, 0.03, 0.05, GuardPolicy.DEFAULT, CaseEffect.IMPROVED),
    ],
)
def test_r13_it_guards_each_case(low, gain, high, policy, expected):
    assert case_effect(Gain(gain, low, high, 10), 0.01, policy) is expected
