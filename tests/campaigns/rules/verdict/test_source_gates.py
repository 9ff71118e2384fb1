"""What a campaign makes of the findings in a candidate's source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import OwnKernel, Timer, Traced
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.finding_kinds import Examined, Finding, FindingKind, read_policy
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import GATE_NAMES, decide_session
from campaigns.rules.verdict.source_gates import LEAST_SHARE, own_kernels, static_findings
from tests.campaigns.rules.builders import case, report, timing

FORK = Finding(FindingKind.PROCESS, 7, "fork", "if (fork() == 0) {")
KEPT = Finding(
    FindingKind.CACHE, 3, "kept stays in the process between calls", "static float kept;"
)
FAST, SLOW = timing([5.0] * 10), timing([10.0] * 10)


def examined(*findings, **policy):
    return Examined("v1.cpp", findings, read_policy(policy, "cpp"))


def standard(*findings, **policy):
    return Standard(has_incumbent=True, examined=examined(*findings, **policy))


def test_it_rejects_what_is_refused_by_line_and_reason():
    found = static_findings(examined(KEPT, FORK))
    assert (found.gate.passed, found.reason) == (False, Reason.FINDING_REFUSED)
    assert found.gate.found == "line 7, fork (process)"
    assert found.gate.limit == "nothing of kind process, patching, lazy output"
    assert found.sentence == (
        "Rejected before it was built: v1.cpp line 7, fork. The code starts or contacts another "
        "process. This campaign refuses findings of kind process."
    )


def test_it_concludes_on_a_refused_candidate_without_a_report():
    found = decide_session(None, standard(FORK))
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.FINDING_REFUSED)
    assert tuple(gate.name for gate in found.gates) == GATE_NAMES
    assert [gate.passed for gate in found.gates] == [False] + [None] * (len(GATE_NAMES) - 1)
    assert (found.void, found.gain) == (False, None)


@pytest.mark.parametrize("seen", [standard(KEPT), Standard(has_incumbent=True)])
def test_it_concludes_nothing_on_any_other_candidate_without_a_report(seen):
    with pytest.raises(ValueError, match="report: None"):
        decide_session(None, seen)


def test_it_accepts_what_is_flagged_and_tells_so():
    found = decide_session(report(case(FAST, SLOW)), standard(KEPT))
    assert found.verdict is VerdictWord.ACCEPTED
    assert found.gates[0].passed is True
    assert found.gates[0].found.startswith("flagged: line 3, kept stays in the process")


TABLE = Finding(FindingKind.ANSWER_TABLE, 4, "t keeps answers from call to call", "float t[9];")


def test_it_asks_a_person_where_a_gain_comes_with_a_table_of_answers():
    found = decide_session(report(case(FAST, SLOW)), standard(KEPT, TABLE))
    assert (found.verdict, found.reason) == (VerdictWord.NEEDS_REVIEW, Reason.KEEPS_ANSWERS)
    assert "v1.cpp line 4, t keeps answers from call to call" in found.sentence
    assert found.sentence.startswith("Needs review: 2.00× faster")
    assert found.gates[0].found.startswith("for review: line 4, t keeps answers")
    assert found.gates[-1].passed is False
    small = decide_session(report(case(timing([9.85] * 10), SLOW)), standard(TABLE))
    assert small.reason is Reason.KEEPS_ANSWERS  # also where a second session would be next


def test_it_asks_nobody_about_a_table_that_gains_nothing_or_that_the_campaign_takes():
    slow = decide_session(report(case(SLOW, SLOW)), standard(TABLE))
    assert slow.reason is Reason.WITHIN_NOISE
    taken = decide_session(report(case(FAST, SLOW)), standard(TABLE, answer_table="flagged"))
    assert taken.verdict is VerdictWord.ACCEPTED


def test_it_lists_what_is_allowed_quietly():
    found = static_findings(examined(KEPT, FORK, cache="allowed", process="allowed"))
    assert (found.gate.passed, found.gate.found) == (True, "2 allowed")
    assert static_findings(examined()).gate.found == "nothing found"


def test_it_names_three_of_many():
    found = static_findings(
        examined(*[Finding(FindingKind.CACHE, n, "kept", "") for n in range(1, 6)])
    )
    assert found.gate.found.endswith("line 3, kept (cache); and 2 more")


def test_it_says_where_a_policy_refuses_nothing():
    lenient = dict.fromkeys(("process", "patching", "lazy_output"), "flagged")
    assert static_findings(examined(FORK, **lenient)).gate.limit == "nothing is refused"


def test_it_holds_nothing_against_a_source_that_was_not_examined():
    found = static_findings(None)
    assert (found.gate.passed, found.gate.found) == (None, "not examined")


AGAINST = Standard(has_incumbent=True)
ROWS = OwnKernel("rows", 1.0, 50.0)
NEVER = OwnKernel("never", 0.0, 0.0)


def gate(traced, measured_us=50.0, device_us=None):
    arm = replace(timing([measured_us] * 10, device_us or measured_us), traced=traced)
    return own_kernels(report(case(arm)), AGAINST)


def test_it_passes_where_own_kernels_take_the_time():
    found = gate(Traced((ROWS, NEVER), 0.0, 0.0))
    assert (found.gate.passed, found.reason) == (True, None)
    assert found.gate.found == (
        "4096x4096: 100 % of 50.0 µs in own kernels: rows (1 × a call); 0 µs in others"
    )


@pytest.mark.parametrize(("other_us", "passed"), [(33.0, True), (34.0, False), (50.0, False)])
def test_it_asks_for_most_of_the_time(other_us, passed):
    assert 50 / 83 > LEAST_SHARE > 50 / 84
    found = gate(Traced((ROWS,), other_us, 0.0), 50 + other_us)
    assert found.gate.passed is passed
    assert found.reason is (None if passed else Reason.NOT_ITS_OWN_KERNEL)


def test_it_tells_the_numbers_of_a_kernel_for_show():
    found = gate(Traced((replace(ROWS, device_us=5.0),), 45.0, 0.0))
    assert found.sentence == (
        "Needs review: 4096x4096: 10 % of 50.0 µs in own kernels: rows (1 × a call); 45.0 µs in "
        "others; own kernels launched, and at least 60 % of the time in them are required. "
        "A kernel from a header or a macro counts if the campaign declares its name (own_kernels)."
    )


def test_it_counts_what_the_campaign_declares_and_says_so():
    """A kernel of a header or a macro stands in no source; only a declaration can tell of it."""
    reduce = OwnKernel("DeviceReduceKernel", 2.0, 40.0, declared=True)
    found = gate(Traced((replace(ROWS, device_us=10.0), reduce), 0.0, 0.0))
    assert (found.gate.passed, found.reason) == (True, None)
    assert (
        "DeviceReduceKernel (declared by the campaign, 2 × a call), rows (1 ×" in found.gate.found
    )
    unmet = gate(Traced((replace(reduce, launches=0.0, device_us=0.0),), 50.0, 0.0))
    assert unmet.reason is Reason.NOT_ITS_OWN_KERNEL
    assert "declares its name (own_kernels)" in unmet.sentence


@pytest.mark.parametrize("own", [(), (NEVER,)])
def test_it_doubts_a_candidate_that_launches_no_kernel_of_its_own(own):
    found = gate(Traced(own, 50.0, 0.0))
    assert found.reason is Reason.NOT_ITS_OWN_KERNEL
    assert found.sentence.startswith("Needs review: no kernel of its own source was launched.")


def test_it_lets_memory_be_set_beforehand():
    assert gate(Traced((ROWS,), 50.0, 50.0), 100.0).gate.passed is True


def test_it_doubts_a_time_that_no_kernel_explains():
    assert gate(Traced((ROWS,), 0.0, 0.0), 88.0).gate.passed is True
    assert gate(Traced((ROWS,), 0.0, 0.0), 89.0).gate.passed is False


def test_it_takes_device_times_where_a_plain_loop_was_timed():
    arm = replace(
        timing([900.0] * 10, 50.0, Timer.LOOP),
        device_samples_us=(50.0,) * 10,
        traced=Traced((ROWS,), 0.0, 0.0),
    )
    assert own_kernels(report(case(arm)), AGAINST).gate.passed is True


def test_it_judges_the_worst_case():
    good = replace(timing([50.0] * 10, 50.0), traced=Traced((ROWS,), 0.0, 0.0))
    bad = replace(good, traced=Traced((replace(ROWS, device_us=1.0),), 49.0, 0.0))
    found = own_kernels(report(case(good, name="good"), case(bad, name="bad")), AGAINST)
    assert found.gate.found.startswith("bad: 2 % of 50.0 µs")


def test_it_blocks_nothing_where_nothing_was_traced():
    for arm in (timing([50.0] * 10), timing([50.0] * 10, timer=Timer.CALLS), None):
        found = own_kernels(report(case(arm)), AGAINST)
        assert (found.gate.passed, found.gate.found, found.reason) == (None, "not recorded", None)


def test_it_keeps_a_fast_candidate_from_being_accepted():
    fast = replace(timing([5.0] * 10, 5.0), traced=Traced((), 5.0, 0.0))
    honest = replace(fast, traced=Traced((replace(ROWS, device_us=5.0),), 0.0, 0.0))
    slow = timing([10.0] * 10, 10.0)
    assert decide_session(report(case(honest, slow)), AGAINST).verdict is VerdictWord.ACCEPTED
    found = decide_session(report(case(fast, slow)), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.NEEDS_REVIEW, Reason.NOT_ITS_OWN_KERNEL)


def test_it_is_shown_but_not_asked_of_what_a_campaign_starts_from():
    torch_alone = Traced((), 50.0, 0.0)
    arm = replace(timing([50.0] * 10, 50.0), traced=torch_alone)
    found = own_kernels(report(case(arm)), Standard(has_incumbent=False, is_v0=True))
    assert (found.gate.passed, found.reason) == (None, None)
    assert "0 % of 50.0 µs" in found.gate.found
    decision = decide_session(report(case(arm)), Standard(has_incumbent=False, is_v0=True))
    assert decision.reason is Reason.BASELINE
    alone = decide_session(report(case(arm)), Standard(has_incumbent=False))
    assert alone.reason is Reason.NOT_ITS_OWN_KERNEL
