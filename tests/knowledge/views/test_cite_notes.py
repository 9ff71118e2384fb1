"""Why a citation moved or drifted stands wherever its state does: as a title, and as text."""

import pytest

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.lookup.standing import notes_of, standings
from knowledge.models import Spec
from tests.knowledge.conftest import BANDWIDTH, TDP

X1 = "docs/hardware/x-1.md"


@pytest.fixture
def drifted(wiki, page_text):
    """The bandwidth moved two lines down, the power changed, and UNKNOWN cores are lost."""
    take_files(
        {X1: page_text("", "", BANDWIDTH, TDP.replace("700", "750"))}, ImportOptions(origin="wiki")
    )
    return {spec.metric: spec for spec in Spec.objects.filter(state="approved")}


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("memory_bandwidth", "Moved with its text from L15 to L17"),
        ("tdp", "&#x27;700&#x27; became &#x27;750&#x27;; &#x27;700 W&#x27; no longer stands there"),
    ],
)
@pytest.mark.parametrize(
    "path", ["/w/p/x-1/", "/w/specs/?q=x-1", "{spec}", f"/w/docs/{X1}", "/w/review/"]
)
def test_every_page_says_why(viewer, drifted, metric, words, path):
    if path == "/w/review/" and metric == "memory_bandwidth":
        return  # what only moved waits for nobody
    page = viewer.get(path.format(spec=drifted[metric].get_absolute_url())).content.decode()
    assert f'title="{words}' in page
    assert f"data-cite-note>{words}" in page


def test_a_comparison_says_it_as_a_title(viewer, drifted, shipped):
    page = viewer.get("/w/compare/?p=x-1&p=h200-sxm&only=all").content.decode()
    assert 'title="&#x27;700&#x27; became' in page


def test_it_is_silent_where_nothing_happened(viewer, wiki, django_assert_num_queries):
    specs = list(Spec.objects.for_sheet())
    states = standings(specs)
    with django_assert_num_queries(0):
        assert notes_of(states) == {}
    assert "data-cite-note" not in viewer.get("/w/p/x-1/").content.decode()


def test_an_answered_flag_has_no_note_any_more(viewer, drifted, page_text):
    take_files({X1: page_text("", "", BANDWIDTH, TDP)}, ImportOptions(origin="wiki"))
    states = standings([drifted["tdp"]])
    assert "became" not in notes_of(states).get(drifted["tdp"].pk, "")
