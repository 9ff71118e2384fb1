"""Every kind of round and of evaluation has its row, and the sets are those that queries expect."""

from campaigns.models import EvaluationKind, RoundKind
from campaigns.models.kinds import AFTER_THE_ROUND, APART, EVALUATION_KINDS, ROUND_KINDS
from campaigns.rules.verdict.case_limits import Level


def test_every_kind_has_a_row():
    assert set(EVALUATION_KINDS) == set(EvaluationKind)
    assert set(ROUND_KINDS) == set(RoundKind)
    assert all(traits.words for traits in EVALUATION_KINDS.values())


def test_no_campaign_waits_for_reproductions_the_series_and_torch():
    torch = {"eager", "compile", "compile-max-autotune", "library"}
    assert set(APART) == {"reproduce", "series", *torch}
    assert set(AFTER_THE_ROUND) == {"report", *APART}


def test_what_a_verdict_may_accept_is_measured_in_full():
    quick = {kind for kind, traits in EVALUATION_KINDS.items() if traits.level is Level.QUICK}
    assert quick == {"screen", "sweep", "share", "build"}


def test_the_noise_and_the_result_of_a_campaign_never_end_early():
    early = {kind for kind, traits in EVALUATION_KINDS.items() if traits.ends_early}
    assert early == {"decide", "remeasure", "reproduce"}
    assert not ROUND_KINDS[RoundKind.SPLIT].ends_early
