"""A campaign's stored target is read as one value, whatever a later version added to it."""

from dataclasses import asdict

import msgspec
import pytest

from campaigns.models import Campaign
from campaigns.records.campaigns import target_of
from knowledge.specs.cited import Cited

VALUE = Cited("memory_bandwidth", 4.8e12, "B/s", "documented", "a line", "/w/#L1", "4.8 TB/s")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_it_reads_a_list(count):
    stored = {"state": "known", "bandwidth": [asdict(VALUE)] * count}
    assert target_of(Campaign(target=stored)).bandwidths == (VALUE,) * count


@pytest.mark.parametrize(("stored", "value"), [(None, None), (asdict(VALUE), VALUE)])
def test_it_reads_none_or_one(stored, value):
    assert target_of(Campaign(target={"state": "known", "busy_share": stored})).busy == value


def test_it_passes_over_what_a_later_version_adds_and_refuses_what_lacks():
    more = {**asdict(VALUE), "colour": "red"}
    found = target_of(Campaign(target={"state": "known", "bandwidth": [more], "colour": "red"}))
    assert found.bandwidths == (VALUE,)
    lacking = asdict(VALUE)
    del lacking["citation"]
    with pytest.raises(msgspec.ValidationError, match="citation"):
        target_of(Campaign(target={"state": "known", "bandwidth": [lacking]}))
