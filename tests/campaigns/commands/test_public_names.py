"""What `--json` called its parts before commands, trails and API wrote one value of each noun."""

import json

import pytest
from django.core.management import call_command

from tests.campaigns.sample import build_sample

pytestmark = pytest.mark.django_db
CAMPAIGN = """
    architecture backend baseline baselines by_proposer campaign commits dispatch findings_policy
    gain gain_high gain_low goal goal_words incumbent_round intake masked no_worker own_kernels
    pairs pins pitfalls placeholders platform problem progress proposers require_sanitizers restart
    reviews rounds standings state stop_reason stop_sentence target title wait waiting would_be
"""
ROUND = """
    against_round campaign candidates commit dispatch expectation hypothesis kind proposed_by
    repairs round standing standings state sweep verdict
"""
CANDIDATE = "chosen digest file findings flags label ordinal outcomes params"
OUTCOME = "attempt cases environment kind outcome reason surroundings void"
VERDICT = "cases classes gain gain_high gain_low gates interval noise pairs reason sentence verdict"


def test_commands_keep_the_names_of_their_answers(capsys):
    number = str(build_sample().pk)

    def answer(*arguments):
        call_command(*arguments, "--json")
        return json.loads(capsys.readouterr().out)

    campaign = answer("campaign", "show", number)
    round_ = answer("round", "show", number, "2")
    (candidate,) = round_["candidates"]
    for found, names in (
        (campaign, CAMPAIGN),
        (round_, ROUND),
        (candidate, CANDIDATE),
        (candidate["outcomes"][0], OUTCOME),
        (round_["verdict"], VERDICT),
    ):
        assert set(names.split()) <= set(found)
    assert (round_["round"], round_["against_round"]) == (2, 1)
    assert campaign["incumbent_round"] == campaign["incumbent"]
    assert round_["verdict"]["verdict"] == "accepted"
    assert round_["verdict"]["interval"] == round_["verdict"]["interval_kind"]
