"""A client that is logged in."""

import pytest
from django.contrib.auth import get_user_model


@pytest.fixture
def viewer(client, db):
    client.force_login(get_user_model().objects.create_user("viewer"))
    return client
