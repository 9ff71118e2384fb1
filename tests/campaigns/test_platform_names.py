"""A platform is found by its full name, and by a part that it alone has, at every interface."""

import json
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from campaigns.problems.shipped import problem_folder
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("wiki_of_module")]

SLUG, NAME, PART, SEVERAL = "h200-sxm", "NVIDIA H200 SXM", "h200", "h100"
USED = ("--dtype", "float16", "--time-us", "9", "--bytes", "1e6")
TRIED = ("--kernel", "matmul", "--backend", "triton", "--dtype", "float16")
ADDRESSES = (
    "/w/p/{}/?format=json",
    "/w/compare/?format=json&p={}&p=b200",
    "/c/?format=json&platform={}",
    "/x/?format=json&platform={}",
    "/x/lessons/?format=json&platform={}",
    "/api/v1/platforms/{}/",
    "/api/v1/specs/?platform={}",
    "/api/v1/specs/lookup?metric=memory_bandwidth&platform={}",
    "/api/v1/campaigns/?platform={}",
    "/api/v1/experience/?platform={}",
    "/api/v1/lessons/?platform={}",
    "/api/v1/recommend/?op=matmul&backend=triton&platform={}",
    "/api/v1/search?q=matmul&platform={}",
)
COMMANDS = (
    ("spec", "get", "{}", "memory_bandwidth"),
    ("spec", "list", "--platform", "{}"),
    ("tool", "utilisation", "--platform", "{}", *USED),
    ("experience", "list", "--platform", "{}"),
    ("experience", "stats", "--platform", "{}"),
    ("experience", "recommend", "--platform", "{}", "--kernel", "matmul", "--backend", "triton"),
    ("experience", "search", "matmul", "--platform", "{}"),
)


@pytest.fixture
def client(client, capsys):
    """Of a person who may do all; one campaign and one attempt are of the platform."""
    client.force_login(User.objects.create_superuser("root"))
    create_campaign(Wish(problem_folder("softmax"), NAME, "triton"))
    said = ("--optimization", "tile", "--outcome", "success", "--gain", "0.1", "--platform", PART)
    call_command("experience", "add", *TRIED, *said)
    capsys.readouterr()
    return client


def test_a_platform_is_found_at_every_address_by_name_and_by_part(client):
    for address in ADDRESSES:
        by_slug, *others = (client.get(address.format(quote(name))) for name in (SLUG, NAME, PART))
        for answer in others:
            assert (address, answer.status_code) == (address, 200)
            assert answer.json() == by_slug.json(), address
        refused = client.get(address.format(SEVERAL))
        assert refused.status_code in (400, 404), address
        assert "h100-nvl" in refused.content.decode(), address


def test_a_platform_is_found_by_every_command_by_name_and_by_part(client, capsys):
    for words in COMMANDS:
        said = []
        for name in (SLUG, NAME, PART):
            call_command(*(word.format(name) for word in words), "--json")
            said.append(json.loads(capsys.readouterr().out))
        assert said[0] == said[1] == said[2], words
        with pytest.raises(CommandError, match="h100-nvl"):
            call_command(*(word.format(SEVERAL) for word in words))
        capsys.readouterr()
