"""A proposal needs lines that state its value plainly (R3): no hedge in it or in its source."""

import pytest

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve
from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.readers.bundle import read_bundle
from knowledge.exchange.writers.export import export_files
from knowledge.lookup.value import find, how_to_obtain
from knowledge.models import Document, Spec
from knowledge.specs.facts import Rank
from knowledge.specs.metrics import MetricError
from tests.knowledge.conftest import facts

pytestmark = pytest.mark.django_db


def lines(*texts):
    take_files(
        {"docs/said.md": "".join(f"{text}\n" for text in texts)}, ImportOptions(origin="said")
    )
    return CitedLines(Document.objects.get(path="docs/said.md").latest, 1, len(texts))


@pytest.mark.parametrize("shown", ["~HBM3e", "about HBM3e", "similar to HBM3"])
def test_r3_it_refuses_a_hedged_value(shown):
    with pytest.raises(MetricError, match="makes it a guess; accepted: a plain value"):
        facts(shown, metric="memory_type")


@pytest.mark.parametrize(
    "text",
    ["about 4.9 TB/s", "~4.9 TB/s", "similar to **4.9 TB/s**", "4.9 TB/s or so", "4.9+ TB/s"],
)
def test_r3_it_refuses_lines_that_hedge(x1, engineer, text):
    with pytest.raises(CurationError, match="makes it a guess there") as caught:
        propose(x1, facts("4.9 TB/s"), lines(text), engineer, "said so")
    assert caught.value.field == "lines"


@pytest.mark.parametrize("text", ["up to 4.9 TB/s", "4.9 TB/s, about twice the older part"])
def test_it_takes_a_limit_and_a_hedge_of_something_else(x1, engineer, text):
    spec = propose(x1, facts("4.9 TB/s"), lines(text), engineer, "said so")
    assert spec.value == 4.9e12


def approved(metric):
    found = Spec.objects.approved().filter(metric=metric).order_by("pk")
    return [(spec.shown, spec.rank, spec.note) for spec in found]


def absent(shown, note, metric="l2_size", **more):
    return facts(shown, metric=metric, note=note, **more)


@pytest.mark.parametrize(
    ("shown", "note"), [("UNKNOWN", "ask them"), ("NONE", "the row says not supported")]
)
def test_it_keeps_what_nobody_has_from_proposal_to_export(x1, engineer, curator, wiki, shown, note):
    place = lines("# Searched", "", "cache: not supported")
    searched = CitedLines(place.revision, 3, 3)
    spec = propose(x1, absent(shown, note), searched, engineer, "searched the sheet")
    approve(spec, curator)
    assert find(x1, "l2_size") is None
    assert approved("l2_size") == [(shown, "preferred", note)]
    assert check_wiki(wiki) == []
    brought = read_bundle(dict(export_files()), ours=False)
    (again,) = [value for value in brought.values if value.facts.metric == "l2_size"]
    assert (again.facts.shown, again.facts.note) == (shown, note)
    assert (again.quote, again.citation.known) == ("cache: not supported", False)


def test_none_answers_an_unknown_and_a_second_unknown_takes_its_place(x1, engineer, curator):
    place = lines("cache: not supported")
    for note in ("ask them", "ask again"):
        approve(propose(x1, absent("UNKNOWN", note), place, engineer, "searched"), curator)
    assert approved("l2_size") == [("UNKNOWN", "preferred", "ask again")]
    assert how_to_obtain(x1, "l2_size") == "ask again"
    approve(propose(x1, absent("NONE", "not supported"), place, engineer, "it says so"), curator)
    assert approved("l2_size") == [("NONE", "preferred", "not supported")]


def test_none_is_preferred_or_no_answer(x1, engineer, curator):
    spec = absent("NONE", "not supported", rank=Rank.NORMAL)
    mine = propose(x1, spec, lines("cache: not supported"), engineer, "it says so")
    with pytest.raises(CurationError, match="no value of l2_size would be preferred"):
        approve(mine, curator)


@pytest.mark.parametrize("shown", ["UNKNOWN", "NONE"])
def test_a_gap_takes_the_place_of_the_value_that_it_replaces_alone(
    x1, engineer, curator, second_curator, shown
):
    place, old = lines("bandwidth: it does not say"), Spec.objects.get(metric="memory_bandwidth")
    gap = absent(shown, "misread before", metric="memory_bandwidth")
    with pytest.raises(Conflict, match=f"has an answer; {shown} does not take its place"):
        approve(propose(x1, gap, place, engineer, "misread"), curator)
    other = absent(shown, "misread", metric="memory_bandwidth")
    approve(propose(x1, other, place, engineer, "misread", replaces=old), second_curator)
    assert approved("memory_bandwidth") == [(shown, "preferred", "misread")]


@pytest.mark.parametrize("shown", ["UNKNOWN", "NONE", "4.9 TB/s"])
def test_it_refuses_blank_lines(x1, engineer, shown):
    place = lines("4.9 TB/s", " ", "")
    with pytest.raises(CurationError, match="lines that a curator can judge"):
        propose(x1, facts(shown, note="why"), CitedLines(place.revision, 2, 3), engineer, "said so")
