"""A stored profile is read as what it says."""

from __future__ import annotations

import pytest

from campaigns.proposers.evidence import read_facts
from campaigns.records.explained.profiles import explained_of
from campaigns.records.rounds import evidence_of
from tests.campaigns.finished import finished


@pytest.mark.django_db
def test_r23_what_was_counted_of_an_incumbent_is_in_the_evidence(tmp_path):
    campaign = finished(tmp_path, [["time 50"]], kernel="transpose_naive", max_rounds=3)
    found = explained_of(campaign.incumbent).profiled
    assert (found.case, found.limit.words) == ("one", "memory cache")
    fact = read_facts(evidence_of(campaign).facts).profile
    assert fact.kernel == found.main.kernel
    assert [one.name for one in fact.findings] == [one.name for one in found.findings]
