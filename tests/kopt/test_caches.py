"""What a person is shown stays with them: no cache that several people share keeps an answer."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLResolver, get_resolver


def addresses(resolver, before="/"):
    """Those without a part that varies."""
    for one in resolver.url_patterns:
        path = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from addresses(one, path)
        elif "<" not in path and "^" not in path and not path.startswith(("/admin/", "/api/")):
            yield path


@pytest.mark.django_db
def test_no_shared_cache_keeps_a_page():
    person, seen = Client(raise_request_exception=False), {}
    for path in ("/", "/api/v1/projects/"):
        seen[f"asks for a login: {path}"] = person.get(path)
    person.force_login(User.objects.create_superuser("ada"))
    more = ("/admin/", "/api/v1/projects/", "/me/notifications/0", "/nothing", "/w/specs.csv")
    for path in (*addresses(get_resolver()), *more):
        seen[path] = person.get(path)
    said = {path: answer.headers.get("Cache-Control", "") for path, answer in seen.items()}
    assert len(said) > 40
    assert {path for path, words in said.items() if "private" not in words} == set()
    assert {"/me/", "/tokens/"} <= {path for path, words in said.items() if "no-store" in words}
