"""What a campaign makes of the findings in a candidate's source."""

import pytest

from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.finding_kinds import Examined, Finding, FindingKind, read_policy
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import GATE_NAMES, decide_session
from campaigns.rules.verdict.source_gates import static_findings
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
