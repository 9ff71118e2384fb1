"""A proposal needs lines that state its value plainly (R3): no hedge in it or in its source."""

import pytest

from knowledge.curation.errors import CurationError
from knowledge.curation.propose import Place, propose
from knowledge.importer import Intake, take_files
from knowledge.models import Document, Spec
from tests.knowledge.curation.conftest import facts

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


def lines(*texts):
    take_files({"docs/said.md": "".join(f"{text}\n" for text in texts)}, Intake(origin="said"))
    return Place(Document.objects.get(path="docs/said.md").latest, 1, len(texts))


@pytest.mark.parametrize("shown", ["~HBM3e", "about HBM3e", "similar to HBM3"])
def test_r3_it_refuses_a_hedged_value(x1, engineer, shown):
    with pytest.raises(CurationError, match="makes it a guess") as caught:
        propose(x1, facts(shown, metric="memory_type"), lines(shown), engineer, "said so")
    assert caught.value.field == "value"
    assert not Spec.objects.filter(metric="memory_type").exists()


@pytest.mark.parametrize("text", ["about 4.9 TB/s", "~4.9 TB/s", "similar to **4.9 TB/s**"])
def test_r3_it_refuses_lines_that_hedge(x1, engineer, text):
    with pytest.raises(CurationError, match="makes it a guess there") as caught:
        propose(x1, facts("4.9 TB/s"), lines(text), engineer, "said so")
    assert caught.value.field == "lines"


@pytest.mark.parametrize("text", ["up to 4.9 TB/s", "4.9 TB/s, about twice the older part"])
def test_it_takes_a_limit_and_a_hedge_of_something_else(x1, engineer, text):
    spec = propose(x1, facts("4.9 TB/s"), lines(text), engineer, "said so")
    assert spec.value == 4.9e12
