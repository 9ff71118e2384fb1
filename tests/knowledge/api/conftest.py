"""A small wiki, people of each role, and clients that are logged in as them."""

import pytest
from django.test import Client


@pytest.fixture
def as_():
    """A client of this user."""

    def log_in(user, **options):
        client = Client(**options)
        client.force_login(user)
        return client

    return log_in
