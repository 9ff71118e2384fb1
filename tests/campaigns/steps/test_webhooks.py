"""What happened reaches an address: signed, tried again, and never an address inside."""

import hashlib
import hmac
import json
import socket
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.contrib.auth.models import Group, User
from kombu.exceptions import OperationalError

from campaigns import tasks
from campaigns.models import Webhook
from campaigns.models.event import record
from campaigns.steps import safe_post, webhooks
from campaigns.steps.safe_post import post, require_sendable
from campaigns.steps.webhooks import add_webhook, end_webhook, send_news
from knowledge.curation.errors import CurationError
from tests.campaigns.views import conftest as cast

pytestmark = pytest.mark.django_db
stage, sample, running = cast.stage, cast.sample, cast.running
SITE = "https://kopt.example.org/"


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """What the queue was given, each the arguments of its task; all of it is settled at once."""
    found = []
    monkeypatch.setattr(webhooks, "SETTLED", timedelta(0))
    monkeypatch.setattr(
        webhooks.current_app, "send_task", lambda name, args, **more: found.append(args)
    )
    return found


@contextmanager
def listening(answers):
    """A server on this host: the (status, headers) of its next answers; what it was sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((dict(self.headers), body, self.path))
            status, headers = answers.pop(0) if answers else (200, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"thanks\0" + b"x" * 2_000)

        def log_message(self, *said):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook?room=1", seen
    finally:
        server.shutdown()
        server.server_close()


def test_a_signed_message_arrives_once(running, settings, sent):
    settings.KOPT_WEBHOOK_PRIVATE = True
    with listening([]) as (url, seen):
        hook = add_webhook(url, ["campaign_finished", "round_judged"], SITE, None)
        round_ = running.rounds.get(number=2)
        record(running, "verdict", "round 2: accepted", round=round_)
        record(running, "evaluated", "nobody asked for this")
        for _ in range(3):
            send_news()
        for message in sent:
            tasks.call_webhook.apply(message)
    assert len(sent) == len(seen) == 1
    headers, body, path = seen[0]
    at = headers["X-Kopt-Timestamp"]
    mac = hmac.new(hook.secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["X-Kopt-Signature"] == f"sha256={mac}"
    assert abs(int(at) - time.time()) < 60
    assert path == "/hook?room=1"
    said = json.loads(body)
    assert (said["kind"], said["round"]["number"], said["round"]["verdict"]) == (
        "round_judged",
        2,
        "accepted",
    )
    assert said["round"]["gain"]["low"] > 0
    assert said["round"]["url"] == f"{SITE}c/{running.pk}/r/2/"
    hook.refresh_from_db()
    assert (hook.answer["status"], hook.answer["text"][:6]) == (200, "thanks")
    assert len(hook.answer["text"]) <= 500


def test_what_happened_before_it_was_added_is_not_told(sample, sent):
    Webhook.objects.create(url="x", site=SITE, kinds=["round_judged"], nonce="n")
    send_news()
    assert sent == []


def test_it_is_tried_three_times_and_the_last_answer_is_shown(running, settings, lead, sent):
    settings.KOPT_WEBHOOK_PRIVATE = True
    answers = [(500, {}), (302, {"Location": "http://127.0.0.1/"}), (503, {}), (200, {})]
    with listening(answers) as (url, seen):
        hook = add_webhook(url, ["campaign_finished"], SITE, None)
        record(running, "finished", "done")
        send_news()
        tasks.call_webhook.apply(sent[0])
        assert len(seen) == 3
        assert "<code>503</code> thanks" in lead.get("/webhooks/").content.decode()
        assert lead.post(f"/webhooks/{hook.pk}/stop").status_code == 302
        assert not end_webhook(hook)
        tasks.call_webhook.apply(sent[0])
        record(running, "aborted", "once more")
        send_news()
    assert (len(seen), len(sent)) == (3, 1)


def test_what_the_queue_did_not_take_is_sent_by_the_next_turn(running, monkeypatch):
    hook = Webhook.objects.create(url="x", site=SITE, kinds=["campaign_finished"], nonce="n")
    record(running, "finished", "done")
    found = []

    def send(name, args, **more):
        if not found.append(args) and len(found) == 1:
            raise OperationalError("away")

    monkeypatch.setattr(webhooks.current_app, "send_task", send)
    for _ in range(3):
        send_news()
    assert [message[:3] for message in found] == [[hook.pk, "campaign_finished", found[0][2]]] * 2


engineer = cast.engineer
INSIDE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
    *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "fe80::1%eth0", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "::"),
    # One of each block that IANA lists as not globally reachable, or has given out to nobody.
    *("::7f00:1", "::5db8:d70e", "::ffff:0:5db8:d70e", "64:ff9b:1::a00:1", "64:ff9b:1::5db8:d70e"),
    *("5f00::1", "100::1", "100:0:0:1::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1"),
    *("2001:db8::1", "2002:5db8:d70e::", "3fff::1", "4000::1", "9000::1", "e000::1", "fec0::1"),
    *("192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("240.0.0.1", "64:ff9b::c058:6301", "64:ff9b::e000:1"),
]
OUTSIDE = ["93.184.215.14", "2606:4700::1111", "2a00:1450::1", "64:ff9b::5db8:d70e"]


@pytest.mark.parametrize("number", OUTSIDE)
def test_addresses_of_the_public_network_are_reached(monkeypatch, number):
    family = socket.AF_INET6 if ":" in number else socket.AF_INET
    answer = [(family, 1, 6, "", (number, 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answer)
    assert require_sendable("https://example.org/")[1] == number


@pytest.mark.parametrize("number", INSIDE)
def test_no_address_inside_is_reached(monkeypatch, number):
    family = (socket.AF_INET6 if ":" in number else socket.AF_INET, 1, 6, "", (number, 443))
    public = (socket.AF_INET, 1, 6, "", ("93.184.215.14", 443))
    for answer in ([family], [public, family]):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *a, answer=answer, **k: answer)
        with pytest.raises(CurationError, match="public network"):
            require_sendable("https://example.org/")


def test_the_connection_goes_to_the_number_that_was_looked_at(monkeypatch):
    asked = []

    def connect(place, *more):
        asked.append(place)
        raise OSError("stopped here")

    answers = [[(2, 1, 6, "", ("93.184.215.14", 443))], [(2, 1, 6, "", ("127.0.0.1", 443))]]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers.pop(0))
    monkeypatch.setattr(socket, "create_connection", connect)
    answer = post("https://example.org/x", b"{}", {})
    assert asked == [("93.184.215.14", 443)]
    assert (answer.status, answer.text) == (None, "stopped here")


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "ftp://example.org/", "https://", "https://a:b@example.org/"),
        *("https://example.org:0/", "https://example.org:99999/", "https://[::1/", "https://é.org"),
        *(
            "https://example.org/\0",
            "https://example.org/\r\nX: 1",
            f"https://example.org/{'x' * 500}",
        ),
        *("http://93.184.215.14/", "https://nowhere.invalid/", "javascript:alert(1)"),
    ],
)
def test_what_is_no_address_is_refused_by_its_field(url):
    with pytest.raises(CurationError) as refused:
        require_sendable(url)
    assert refused.value.field == "url"


def test_an_answer_byte_by_byte_does_not_hold_the_worker(settings, monkeypatch):
    settings.KOPT_WEBHOOK_PRIVATE = True
    monkeypatch.setattr(safe_post, "LIMIT_S", 0.4)
    server = socket.create_server(("127.0.0.1", 0))

    def drip():
        with server.accept()[0] as one:
            for letter in b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200:
                try:
                    one.sendall(bytes([letter]))
                except OSError:
                    return
                time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    began = time.monotonic()
    answer = post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {})
    assert time.monotonic() - began < 8
    assert answer.status is None
    assert "no whole answer" in answer.text
    server.close()


@pytest.mark.parametrize("kinds", [[], ["x"], ["round_judged", "x"]])
def test_an_unknown_kind_is_refused(kinds, settings):
    settings.KOPT_WEBHOOK_PRIVATE = True
    with pytest.raises(CurationError, match="accepted: one or more of round_judged"):
        add_webhook("http://127.0.0.1/", kinds, SITE, None)


@pytest.fixture
def lead(client):
    user = User.objects.create_user("lena")
    user.groups.add(Group.objects.get(name="lead"))
    client.force_login(user)
    return client


def test_a_lead_adds_one_and_sees_its_secret_once(lead, settings):
    settings.KOPT_WEBHOOK_PRIVATE = True
    form = {"url": "http://127.0.0.1:9/", "kinds": ["round_judged"]}
    made = lead.post("/webhooks/", form)
    hook = Webhook.objects.get()
    assert made.status_code == 201
    assert hook.secret in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert hook.site == "http://testserver/"
    for file in ("html", "json", "csv", "md"):
        answer = lead.get("/webhooks/", {"format": file})
        assert answer.status_code == 200
        assert hook.secret not in answer.content.decode()
        assert hook.nonce not in answer.content.decode()
    wrong = lead.post("/webhooks/", {"url": "http://x", "kinds": ["y"]})
    assert wrong.status_code == 422
    assert "Select a valid choice" in wrong.content.decode()


def test_nobody_but_a_lead_reaches_them(client, engineer):
    hook = Webhook.objects.create(url="x", site=SITE, kinds=["round_judged"], nonce="n")
    client.force_login(engineer)
    assert client.get("/webhooks/").status_code == 403
    assert client.get("/webhooks/", {"format": "json"}).status_code == 403
    assert client.post("/webhooks/", {}).status_code == 403
    assert client.post(f"/webhooks/{hook.pk}/stop").status_code == 403
