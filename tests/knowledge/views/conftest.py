"""A client that is logged in, and people of each role."""

import pytest
from django.contrib.auth import get_user_model


@pytest.fixture
def viewer(client, db):
    client.force_login(get_user_model().objects.create_user("viewer"))
    return client


@pytest.fixture
def as_(client):
    """Log somebody in and give the client back."""

    def log_in(user):
        client.force_login(user)
        return client

    return log_in
