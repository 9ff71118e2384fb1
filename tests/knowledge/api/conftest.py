"""A small wiki, people of each role, and clients that are logged in as them."""

import pytest
from django.test import Client

from tests.knowledge.curation import conftest as people

note = people.note
x1 = people.x1
viewer = people.viewer
engineer = people.engineer
curator = people.curator
second_curator = people.second_curator
proposal = people.proposal


@pytest.fixture
def as_():
    """A client of this user."""

    def log_in(user, **options):
        client = Client(**options)
        client.force_login(user)
        return client

    return log_in
