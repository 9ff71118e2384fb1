"""What every address shares: tables for pandas, ETags, and requests that are sent twice."""

import io
import json
from unittest import mock

import pandas
import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncRequestFactory
from rest_framework.request import Request

from knowledge.api.lists import streamed
from knowledge.curation.tokens import new_token
from knowledge.models import Experience, Gap, KeptAnswer
from tests.knowledge.api.test_experience import LIST, stored

pytestmark = pytest.mark.django_db
GAPS = "/api/v1/gaps/"


def ask(client, question, key="one", **more):
    body = json.dumps({"question": question})
    headers = {"Idempotency-Key": key}
    return client.post(GAPS, body, content_type="application/json", headers=headers, **more)


def whole(answer):
    return b"".join(answer.streaming_content).decode()


def test_pandas_reads_all_pages_as_csv(as_, viewer):
    stored(3, title='=HYPERLINK("x")', shapes=[{"N": 1}], gain=0.1 + 0.2)
    with mock.patch("knowledge.api.lists.CHUNK", 2):
        text = whole(as_(viewer).get(LIST, {"format": "csv", "op": "matmul"}))
    table = pandas.read_csv(io.StringIO(text), float_precision="round_trip")
    assert (len(table), table["gain"][0]) == (3, 0.1 + 0.2)
    assert table["title"][0] == '\'=HYPERLINK("x")'
    assert json.loads(table["shapes"][0]) == [{"N": 1}]
    assert table["gain_low"].isna().all()
    keys = [str(key) for key in Experience.objects.order_by("-pk").values_list("uuid", flat=True)]
    assert list(table["uuid"]) == keys


def test_pandas_reads_json_lines(as_, viewer):
    stored(2)
    text = whole(as_(viewer).get(LIST, {"format": "jsonl"}))
    assert list(pandas.read_json(io.StringIO(text), lines=True)["op"]) == ["matmul", "matmul"]
    none = whole(as_(viewer).get(GAPS, {"format": "csv"}))
    assert none.startswith("uuid,state,question,")
    assert none.count("\n") == 1


def test_the_accept_header_asks_for_the_same(as_, viewer):
    stored()
    answer = as_(viewer).get(LIST, headers={"Accept": "text/csv"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    refused = as_(viewer).get(LIST, headers={"Accept": "image/png"})
    assert (refused.status_code, refused.json()["field"]) == (406, "Accept")
    wrong = as_(viewer).get(LIST, {"format": "csv", "outcome": "good"})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "outcome")


def test_an_asynchronous_server_streams_it_as_well():
    answer = streamed(Request(AsyncRequestFactory().get("/")), iter(["a\n", "b\n"]), "text/csv")

    async def parts():
        return [part async for part in answer.streaming_content]

    assert async_to_sync(parts)() == [b"a\n", b"b\n"]


def test_one_resource_has_an_etag(as_, viewer):
    stored()
    address = f"{LIST}{Experience.objects.get().uuid}/"
    client = as_(viewer)
    first = client.get(address)
    tag = first.headers["ETag"]
    again = client.get(address, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    Experience.objects.update(standing="masked")
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 200
    assert client.head(address).status_code == 200
    assert "no-cache" in first.headers["Cache-Control"]


def test_a_post_that_is_sent_twice_does_its_work_once(as_, engineer):
    client = as_(engineer)
    first, again = ask(client, "Why?"), ask(client, "Why?")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Gap.objects.count() == 1
    other = ask(client, "Why not?")
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    assert ask(client, "Why not?", key="two").status_code == 201


def test_a_key_is_one_persons_and_free_after_a_refusal(as_, engineer, curator, viewer):
    assert ask(as_(viewer), "Why?").status_code == 403
    assert not KeptAnswer.objects.exists()
    assert ask(as_(engineer), "").status_code == 422
    assert ask(as_(engineer), "Why?").status_code == 201
    assert ask(as_(curator), "Why?").status_code == 201
    assert Gap.objects.count() == 2


def test_a_request_under_way_is_not_begun_again(as_, engineer):
    client = as_(engineer)
    ask(client, "Why?")
    KeptAnswer.objects.update(status=None)
    assert ask(client, "Why?").status_code == 409
    refused = ask(client, "Why?", key="x" * 201)
    assert (refused.status_code, refused.json()["field"]) == (422, "Idempotency-Key")
    assert Gap.objects.count() == 1


def test_an_error_of_ours_leaves_the_key_free(as_, engineer):
    client = as_(engineer, raise_request_exception=False)
    with mock.patch("knowledge.api.experience.ask_gap", side_effect=RuntimeError("ours")):
        assert ask(client, "Why?").status_code == 500
    assert ask(client, "Why?").status_code == 201


def test_a_token_with_less_scope_gets_no_kept_answer(as_, engineer, client):
    ask(as_(engineer), "Why?")
    _, text = new_token(engineer, "reads", [])
    answer = client.post(
        GAPS,
        json.dumps({"question": "Why?"}),
        content_type="application/json",
        headers={"Idempotency-Key": "one", "Authorization": f"Bearer {text}"},
    )
    assert answer.status_code == 403
