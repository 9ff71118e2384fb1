"""What a campaign is judged by is free in a draft, and frozen by its confirmation (R1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.models import Campaign, Protocol
from campaigns.models.transitions import claim
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.lab import give_ceilings
from tests.campaigns.steps import cast

pytestmark = pytest.mark.storage

# Each of them with another value; `protocol` and `created_by` need a row.
CHANGES: dict[str, Any] = {
    "backend": "cuda",
    "cases": ["one"],
    "proposer": "somebody",
    "proposers": {"agent": 5},
    "stop_policy": {"max_rounds": 119},
    "goal": None,
    "findings_policy": {"process": "allowed"},
    "own_kernels": ["DeviceReduceKernel"],
    "intake": {"notes": "later"},
    "seed": 8,
}


@pytest.fixture
def draft(db: None, tmp_path: Path) -> Campaign:
    give_ceilings(cast.make_platform().slug)
    wish = Wish(cast.write_problem(tmp_path), "test-cpu", "cpp", seed=7)
    return create_campaign(wish)


def change(campaign: Campaign, **values: Any) -> bool:
    """Past every guard of the models."""
    with transaction.atomic():
        return claim(Campaign.objects.filter(pk=campaign.pk), **values)


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_free_in_a_draft_and_frozen_afterwards(draft: Campaign, name: str) -> None:
    before = getattr(draft, name)
    assert change(draft, **{name: CHANGES[name]})
    assert change(draft, **{name: before})
    confirm(draft)
    with pytest.raises(IntegrityError, match="never changed"):
        change(draft, **{name: CHANGES[name]})
    draft.refresh_from_db()
    setattr(draft, name, CHANGES[name])
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        draft.save()


def test_it_keeps_protocol_and_owner(draft: Campaign) -> None:
    confirm(draft)
    other = Protocol.objects.create(digest="x" * 64, rules={})
    for values in ({"protocol": other}, {"created_by": User.objects.create(username="eve")}):
        with pytest.raises(IntegrityError, match="never changed"):
            change(draft, **values)


def test_it_leaves_free_what_the_flow_writes(draft: Campaign) -> None:
    confirm(draft)
    assert change(draft, target={"state": "known"}, noise={"floor": 0.01}, title="renamed")
