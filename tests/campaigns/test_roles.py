"""Who may run code on this team's machines."""

import pytest
from django.contrib.auth.models import Group, User

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("role", "runs", "reviews"),
    [
        ("viewer", False, False),
        ("engineer", True, False),
        ("curator", False, True),
        ("lead", True, True),
    ],
)
def test_each_role_has_its_rights(role, runs, reviews):
    user = User.objects.create_user("rita")
    user.groups.add(Group.objects.get(name=role))
    assert user.has_perm("campaigns.add_campaign") is runs
    assert user.has_perm("campaigns.change_campaign") is runs
    assert user.has_perm("knowledge.review_spec") is reviews
