"""What was approved at a given time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.curation.review import approve
from knowledge.models import Spec
from knowledge.models.change import approved_at

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


def test_it_sees_a_value_only_from_its_approval_on(proposal, curator):
    before = timezone.now()
    approve(proposal, curator)
    bandwidths = Spec.objects.filter(metric="memory_bandwidth")
    then = {s.shown: s.rank_then for s in approved_at(bandwidths, before)}
    now = {s.shown: s.rank_then for s in approved_at(bandwidths, timezone.now())}
    assert then == {"4.8 TB/s": "preferred"}
    assert now == {"4.8 TB/s": "normal", "4.9 TB/s": "preferred"}
    assert not approved_at(bandwidths, before - timedelta(days=1)).exists()
