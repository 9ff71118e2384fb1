"""The made-up wiki is a sound one, so that what is timed on it is real work."""

import pytest

from knowledge.check import check_wiki
from knowledge.lookup import find
from knowledge.models import Citation, Document, Platform, Spec, SpecChange
from knowledge.scale import Size, WikiTimes, fill, to_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


@pytest.fixture
def made_up(db):
    fill(Size(specs=95, documents=10, specs_per_platform=40))


def test_it_has_as_many_rows_as_asked_for(made_up):
    counts = [model.objects.count() for model in (Spec, Citation, SpecChange, Document, Platform)]
    assert counts == [95, 95, 95, 10, 3]


def test_every_value_answers_its_own_question_and_holds(made_up, tmp_path):
    for spec in Spec.objects.select_related("platform"):
        assert find(spec.platform, spec.metric, **spec.qualifiers) == spec
    assert check_wiki(tmp_path) == []


def test_it_reports_limits_beside_times():
    times = WikiTimes(
        "2026-01-01", {"python": "3"}, "sqlite", 100_000, 5_000, 500, 0.2, 1.4, 1.7, 30.0, 90.0, 8.0
    )
    text = to_markdown(times)
    assert "| lookup of one question | 1.40 | 1.70 | p95 under 20 ms |" in text
    assert "costs 7.0× a fetch" in text
