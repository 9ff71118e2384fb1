"""What a campaign pinned, beside the wiki as it is now, and where its target would go."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.management.facts import campaign_details, campaign_text
from campaigns.models import Campaign
from campaigns.records.target.target_drift import (
    PinnedState,
    TargetDrift,
    drift_of,
    uses_in_campaigns,
)
from knowledge.curation.review import retire
from knowledge.lookup.usage import Replacement, uses
from knowledge.models import Spec
from knowledge.specs.cited import UNKNOWN
from tests.campaigns import lab
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    lab.set_the_lab(monkeypatch)
    return lab.targeted(tmp_path)


def states(drift: TargetDrift) -> dict[str, PinnedState]:
    return {pin.used.metric: pin.state for pin in drift.pins}


def test_it_says_nothing_while_the_wiki_stands(campaign: Campaign) -> None:
    drift = drift_of(campaign)
    assert states(drift) == {"copy_bandwidth": PinnedState.OK, "fma_throughput": PinnedState.OK}
    assert (drift.revised, drift.moving, drift.words) == ((), (), "")
    assert drift.target == drift.would_be == "11.1 µs (geometric mean of 2 cases)"


def test_it_needs_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.set_the_lab(monkeypatch)
    assert drift_of(cast.make_campaign(tmp_path)) == TargetDrift((), ())


def test_it_follows_a_line_that_moved(campaign: Campaign) -> None:
    lab.write(lab.TEXT.replace("Written by", "\n\nWritten long ago by"))
    drift = drift_of(campaign)
    assert set(states(drift).values()) == {PinnedState.MOVED}
    assert (drift.revised, drift.words) == ((), "")


def test_it_takes_a_new_revision_alone_for_no_move(campaign: Campaign) -> None:
    lab.write(lab.TEXT + "\nA note at the end.\n")
    assert set(states(drift_of(campaign)).values()) == {PinnedState.OK}


def test_it_computes_the_target_with_a_revised_value(campaign: Campaign) -> None:
    lab.write(lab.revised("20 GB/s"), vouched=True)
    drift = drift_of(campaign)
    (pin,) = drift.revised
    assert (pin.state, pin.role, pin.decided) == (PinnedState.REPLACED, "bandwidth", True)
    assert pin.words == "copy_bandwidth was revised from 10 GB/s to 20 GB/s."
    assert drift.words == (
        "The target would move from 11.1 µs (geometric mean of 2 cases) "
        "to 5.56 µs (geometric mean of 2 cases)."
    )
    one = drift.moving[0]
    assert (one.case, one.floor_us, one.floor_would_us) == ("one", 10.0, 5.0)
    assert one.target_would_us == pytest.approx(5 / 0.9)


def test_it_says_so_where_a_revised_value_moves_nothing(campaign: Campaign) -> None:
    lab.write(lab.TEXT.replace("100 GFLOPS", "200 GFLOPS"), vouched=True)
    drift = drift_of(campaign)
    assert states(drift)["fma_throughput"] is PinnedState.REPLACED
    assert drift.words.startswith("The target would stay at 11.1 µs")


def test_it_shows_a_proposal_beside_a_changed_line(campaign: Campaign) -> None:
    lab.write(lab.revised("20 GB/s"))
    drift = drift_of(campaign)
    (pin,) = drift.revised
    assert (pin.state, pin.cite_state, pin.decided) == (PinnedState.CHANGED, "changed", False)
    assert pin.successor == lab.bandwidth(state="proposed")
    assert "20 GB/s is proposed in its place" in pin.words
    assert drift.words.startswith("The target would, once that is approved, move from 11.1 µs")


def test_it_flags_a_document_that_is_gone(campaign: Campaign) -> None:
    lab.write("")
    drift = drift_of(campaign)
    assert set(states(drift).values()) == {PinnedState.SOURCE_MISSING}
    assert drift.words == ""
    assert drift.state_of(drift.pins[0].used.citation) == "source_missing"


def test_it_leads_to_unknown_where_a_value_was_retired(campaign: Campaign) -> None:
    retire(lab.bandwidth(), None, "the probe was wrong")
    drift = drift_of(campaign)
    (pin,) = drift.revised
    assert (pin.state, pin.successor) == (PinnedState.RETIRED, None)
    assert drift.would_be == UNKNOWN
    assert drift.words.endswith(f"to {UNKNOWN}.")
    assert [move.floor_would_us for move in drift.moving] == [None, None]


def test_it_calls_a_citation_missing_that_the_wiki_does_not_hold(campaign: Campaign) -> None:
    target = campaign.target
    target["bandwidth"][0]["citation"] = "nonsense"
    campaign.target = target
    assert states(drift_of(campaign))["copy_bandwidth"] is PinnedState.SOURCE_MISSING


def test_it_rewrites_no_finished_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.set_the_lab(monkeypatch)
    done = lab.finished(tmp_path)
    before = done.target
    lab.write(lab.revised("20 GB/s"), vouched=True)
    assert drift_of(done).would_be.startswith("5.56 µs")
    said = campaign_details(cast.fresh(done))
    assert cast.fresh(done).target == before
    assert [pin["state"] for pin in said["pins"]] == ["replaced", "ok"]
    assert said["pins"][0]["now"] == "20 GB/s"
    assert said["would_be"]["cases"][0]["floor_would_us"] == 5.0
    assert "drift: copy_bandwidth was revised from 10 GB/s to 20 GB/s." in campaign_text(done)


def test_it_asks_three_queries_however_much_there_is(
    campaign: Campaign, django_assert_num_queries
) -> None:
    for value in ("20 GB/s", "30 GB/s"):
        lab.write(lab.revised(value), vouched=True)
    found = cast.fresh(campaign)
    with django_assert_num_queries(3):
        drift_of(found)


@pytest.fixture
def campaign_of_used_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    lab.set_the_lab(monkeypatch)
    return lab.targeted(tmp_path)


def proposed(text: str) -> Spec:
    lab.write(lab.revised(text))
    return lab.bandwidth(state="proposed")


def test_it_is_asked_by_the_wiki(campaign_of_used_specs: Campaign) -> None:
    (found,) = uses([Replacement(lab.bandwidth())])[0]
    assert (found.title, found.url) == (
        campaign_of_used_specs.title,
        f"/c/{campaign_of_used_specs.pk}/",
    )
    assert found.purpose == "bandwidth of the roof"
    assert found.target == "11.1 µs (geometric mean of 2 cases)"
    assert (found.would_be, found.moves) == ("", False)


def test_it_says_what_a_replacement_would_move(campaign_of_used_specs: Campaign) -> None:
    new = proposed("20 GB/s")
    (found,) = uses_in_campaigns([Replacement(lab.bandwidth(state="approved"), new)])[0]
    assert (found.moves, found.would_be) == (True, "5.56 µs (geometric mean of 2 cases)")
    assert uses_in_campaigns([Replacement(new)]) == [[]]


def test_it_says_why_there_is_no_target_with_a_replacement(
    campaign_of_used_specs: Campaign,
) -> None:
    unknown = Spec.objects.get(pk=lab.bandwidth().pk)
    unknown.pk, unknown.value, unknown.shown = None, None, "UNKNOWN"
    (found,) = uses_in_campaigns([Replacement(lab.bandwidth(), unknown)])[0]
    assert (found.would_be, found.reason) == ("", "UNKNOWN is no number with a citation")


def test_it_finds_campaigns_that_pinned_an_older_place(campaign_of_used_specs: Campaign) -> None:
    lab.write(lab.TEXT.replace("Written by", "\n\nWritten long ago by"))
    assert len(uses_in_campaigns([Replacement(lab.bandwidth())])[0]) == 1


def test_it_asks_as_often_for_a_page_of_values(
    campaign_of_used_specs: Campaign, django_assert_num_queries
) -> None:
    swaps = [Replacement(spec) for spec in Spec.objects.all()]
    assert len(swaps) == 2
    for asked in (swaps[:1], swaps):
        with django_assert_num_queries(2):
            assert all(uses_in_campaigns(asked))
