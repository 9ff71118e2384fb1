"""The OpenAPI description: valid, complete, and true of the answers (schemathesis)."""

import json
import re
from functools import cache

import pytest
import schemathesis
import yaml
from django.contrib.auth.models import Group, User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from knowledge.api.schema import described
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope
from tests.campaigns.sample import build_sample

pytestmark = pytest.mark.django_db
CHECKS = [
    schemathesis.checks.not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
MOST_EXAMPLES = settings.default.max_examples // 12  # of each operation
PARTS = 4
OPERATIONS = sorted(
    (path, method.upper())
    for path, operations in described()["paths"].items()
    for method in operations
)


def test_it_is_valid_and_made_without_a_warning():
    described.cache_clear()
    GENERATOR_STATS.reset()
    validate_schema(described())
    assert not GENERATOR_STATS, GENERATOR_STATS._warn_cache


def test_it_is_served_as_json_and_yaml(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("ada"))
    found = client.get("/api/v1/schema", {"format": "json"})
    assert json.loads(found.content) == yaml.safe_load(
        client.get("/api/v1/schema", {"format": "yaml"}).content
    )
    assert found.json()["openapi"].startswith("3.1")
    same = client.get("/api/v1/schema?format=json", headers={"If-None-Match": found["ETag"]})
    assert same.status_code == 304


def test_the_page_shows_every_address_and_nothing_from_elsewhere(client, django_user_model):
    assert client.get("/api/").status_code == 302
    client.force_login(django_user_model.objects.create_user("ada"))
    page = client.get("/api/").content.decode()
    for path, method in OPERATIONS:
        assert f"<code>{method} {path}</code>" in page
    assert 'id="object-Gain"' in page
    assert not re.search(r"(src|href)=\"https?://", page)


@pytest.fixture
def bearer(monkeypatch, settings):
    """The header of a token that may all that a token can, of a person who may everything."""
    settings.KOPT_API_PER_MINUTE = 0.0
    for module in ("campaigns.api.campaigns.notify", "campaigns.api.workers.notify_worker"):
        monkeypatch.setattr(module, lambda *a: None)
    lead = User.objects.create_user("lead")
    lead.groups.add(Group.objects.get(name="lead"))
    return {"Authorization": f"Bearer {new_token(lead, 'fuzz', Scope.values)[1]}"}


@cache
def description():
    """Read once: to resolve its references takes a second."""
    made = schemathesis.openapi.from_dict(described())
    made.app = get_wsgi_application()
    return made


@pytest.fixture
def schema():
    """The description, with our own server behind it, in this process and this transaction."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield description()
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_as_described_whatever_is_asked(bearer, schema, part):
    build_sample(rounds=4)
    for path, method in OPERATIONS[part::PARTS]:
        fuzz(schema[path][method], bearer)


def fuzz(operation, headers):
    """Ask one operation a few things, the same ones in every run."""

    @settings(
        max_examples=MOST_EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), key=st.none() | st.integers(1, 8))
    def ask(case, key):
        if key and "pk" in case.path_parameters:
            case.path_parameters["pk"] = key
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)

    ask()
