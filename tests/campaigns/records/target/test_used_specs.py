"""Where a value is used: the campaigns whose target cites it, and what another one would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.models import Campaign
from campaigns.records.target.target_drift import uses_in_campaigns
from knowledge.lookup.usage import Replacement, uses
from knowledge.models import Spec
from tests.campaigns import lab

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    lab.set_the_lab(monkeypatch)
    return lab.targeted(tmp_path)


def proposed(text: str) -> Spec:
    lab.write(lab.revised(text))
    return lab.bandwidth(state="proposed")


def test_it_is_asked_by_the_wiki(campaign: Campaign) -> None:
    (found,) = uses([Replacement(lab.bandwidth())])[0]
    assert (found.title, found.url) == (campaign.title, f"/c/{campaign.pk}/")
    assert found.purpose == "bandwidth of the roof"
    assert found.target == "11.1 µs (geometric mean of 2 cases)"
    assert (found.would_be, found.moves) == ("", False)


def test_it_says_what_a_replacement_would_move(campaign: Campaign) -> None:
    new = proposed("20 GB/s")
    (found,) = uses_in_campaigns([Replacement(lab.bandwidth(state="approved"), new)])[0]
    assert (found.moves, found.would_be) == (True, "5.56 µs (geometric mean of 2 cases)")
    assert uses_in_campaigns([Replacement(new)]) == [[]]


def test_it_says_why_there_is_no_target_with_a_replacement(campaign: Campaign) -> None:
    unknown = Spec.objects.get(pk=lab.bandwidth().pk)
    unknown.pk, unknown.value, unknown.shown = None, None, "UNKNOWN"
    (found,) = uses_in_campaigns([Replacement(lab.bandwidth(), unknown)])[0]
    assert (found.would_be, found.reason) == ("", "UNKNOWN is no number with a citation")


def test_it_finds_campaigns_that_pinned_an_older_place(campaign: Campaign) -> None:
    lab.write(lab.TEXT.replace("Written by", "\n\nWritten long ago by"))
    assert len(uses_in_campaigns([Replacement(lab.bandwidth())])[0]) == 1


def test_it_asks_as_often_for_a_page_of_values(
    campaign: Campaign, django_assert_num_queries
) -> None:
    swaps = [Replacement(spec) for spec in Spec.objects.all()]
    assert len(swaps) == 2
    for asked in (swaps[:1], swaps):
        with django_assert_num_queries(2):
            assert all(uses_in_campaigns(asked))
