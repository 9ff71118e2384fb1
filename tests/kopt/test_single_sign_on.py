"""Logging in by a provider: a real one on this host, which signs what it is told to."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import include, path

from kopt import single_sign_on, urls

urlpatterns = [*urls.urlpatterns, path("oidc/", include(single_sign_on))]

CLIENT = "kopt-here"
CLAIMS = {
    "sub": "17",
    "email": "ada@example.org",
    "email_verified": True,
    "preferred_username": "ada",
    "groups": ["curator", "cooks"],
}


class Issuer:
    """claims: what its user endpoint says. token: what differs in the id token."""

    def __init__(self):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims, self.token, self.nonce, self.asked = dict(CLAIMS), {}, "", {}
        handler = type("Handler", (_Handler,), {"issuer": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path):
        if path.endswith("openid-configuration"):
            names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
            return {"issuer": self.url} | {name: f"{self.url}/{name}" for name in names}
        if path == "/jwks_uri":
            shown = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
            return {"keys": [shown | {"kid": "1", "alg": "RS256"}]}
        if path == "/userinfo_endpoint":
            return self.claims
        now = int(time.time())
        token = {"iss": self.url, "aud": CLIENT, "sub": "17", "nonce": self.nonce}
        token |= {"iat": now, "exp": now + 60} | self.token
        signed = jwt.encode(token, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "a", "id_token": signed}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._send()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.issuer.asked = {name: values[0] for name, values in parse_qs(body).items()}
        self._send()

    def _send(self):
        body = json.dumps(self.issuer.answer(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def issuer(db, settings):
    made = Issuer()
    settings.ROOT_URLCONF = __name__
    settings.KOPT_OIDC_ISSUER, settings.OIDC_RP_CLIENT_ID = made.url, CLIENT
    settings.OIDC_RP_CLIENT_SECRET = "s"
    settings.AUTHENTICATION_BACKENDS = ["kopt.single_sign_on.Provider"]
    single_sign_on.provider.cache_clear()
    yield made
    made.server.shutdown()
    made.server.server_close()


def log_in(issuer, client=None):
    """Go to the provider and come back; the browser's client."""
    client = client or Client()
    away = client.get("/oidc/", {"next": "/w/"})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away.url).query).items()}
    assert away.url.startswith(issuer.url)
    assert asked["code_challenge_method"] == "S256"
    issuer.nonce = issuer.nonce or asked["nonce"]
    client.back = client.get("/oidc/back/", {"code": "c", "state": asked["state"]})
    return client


def is_in(client):
    return "_auth_user_id" in client.session


def test_a_person_is_let_in_with_the_roles_that_the_provider_names(issuer):
    client = log_in(issuer)
    assert client.back.url == "/w/"
    ada = User.objects.get(username="ada")
    assert [group.name for group in ada.groups.all()] == ["curator"]
    assert not ada.has_usable_password()
    assert issuer.asked["code_verifier"]
    issuer.nonce, issuer.claims["groups"] = "", []
    log_in(issuer)
    assert not User.objects.get(username="ada").groups.exists()
    issuer.nonce = ""
    del issuer.claims["groups"]
    ada.groups.add(Group.objects.get(name="lead"))
    log_in(issuer)
    assert ada.groups.get().name == "lead"


@pytest.mark.parametrize(
    ("claims", "token"),
    [
        ({"email_verified": False}, {}),
        ({"email_verified": "true"}, {}),
        ({"email": ""}, {}),
        ({"sub": "18"}, {}),
        ({}, {"aud": "another"}),
        ({}, {"iss": "https://evil.example"}),
        ({}, {"nonce": "replayed"}),
    ],
)
def test_it_lets_nobody_in_whom_the_provider_does_not_vouch_for(issuer, claims, token):
    issuer.claims |= claims
    issuer.token = token
    client = log_in(issuer)
    assert not is_in(client)
    assert not User.objects.exists()


def test_an_account_with_a_password_is_never_the_providers(issuer):
    User.objects.create_superuser("kopt", email="ada@example.org", password="correct horse")
    client = log_in(issuer)
    assert User.objects.get(pk=client.session["_auth_user_id"]).username == "ada"
    User.objects.get(username="ada").delete()
    User.objects.create_user("ada", password="correct horse")
    issuer.nonce, issuer.claims["email"] = "", "kopt"
    assert not is_in(log_in(issuer))


@pytest.mark.parametrize(
    "name",
    [
        *("grace", "Grace", "grace ", " grace", "gr ace", "grac\u0435", "\uff47race"),
        *("gra\u00adce", "grace\u202e", "", "x" * 151, "lead", "Lead", "lead ", "le\u0430d"),
    ],
)
def test_a_name_that_looks_like_anothers_or_a_roles_is_nobodys(issuer, name):
    User.objects.create_user("grace", password="correct horse")
    issuer.claims["preferred_username"] = name
    client = log_in(issuer)
    made = User.objects.get(pk=client.session["_auth_user_id"])
    assert made.username == "ada@example.org"


@pytest.mark.parametrize(
    "group",
    [
        *("Lead", "LEAD", "lead ", " lead", "le\u0430d", "\uff4cead", "lead\0", "/lead"),
        *("curator,lead", ["lead"], {"lead": "lead"}, None, True),
    ],
)
def test_a_group_gives_a_role_by_its_exact_name_alone(issuer, group):
    issuer.claims["groups"] = [group]
    client = log_in(issuer)
    assert is_in(client)
    assert not Group.objects.filter(user=client.session["_auth_user_id"]).exists()


@pytest.mark.parametrize("email", ["m\u0131ke@example.org", "mi\u212ae@example.org"])
def test_an_address_in_letters_of_another_alphabet_is_another_address(issuer, email, monkeypatch):
    mike = User.objects.create_user("mike", email="mike@example.org")
    mike.set_unusable_password()
    mike.save()
    # As PostgreSQL compares; SQLite knows the case of ASCII alone.
    alike = User.objects.filter(pk=mike.pk)
    monkeypatch.setattr(
        type(User.objects),
        "filter",
        lambda *_, **by: alike if "email__iexact" in by else User.objects.all().filter(**by),
    )
    issuer.claims |= {"email": email, "preferred_username": "other"}
    client = log_in(issuer)
    assert client.session.get("_auth_user_id") != str(mike.pk)


def test_an_expired_token_and_another_key_are_refused(issuer):
    issuer.token = {"exp": int(time.time()) - 900}
    assert not is_in(log_in(issuer))
    issuer.token, issuer.nonce = {}, ""
    real, issuer.key = issuer.key, rsa.generate_private_key(public_exponent=65537, key_size=2048)
    shown = jwt.algorithms.RSAAlgorithm.to_jwk(real.public_key(), as_dict=True)
    answer = issuer.answer
    issuer.answer = lambda path: (
        {"keys": [shown | {"kid": "1", "alg": "RS256"}]} if path == "/jwks_uri" else answer(path)
    )
    assert not is_in(log_in(issuer))


def test_a_description_of_another_issuer_is_refused(issuer):
    issuer.url, real = "https://evil.example", issuer.url
    with pytest.raises(single_sign_on.SuspiciousOperation):
        single_sign_on.provider(real)


def test_a_provider_that_is_away_stops_logins_alone(issuer, settings):
    inside = log_in(issuer)
    settings.KOPT_OIDC_ISSUER = "http://127.0.0.1:9"
    assert inside.get("/me/").status_code == 200
    answer = Client().get("/oidc/", follow=True)
    assert "was not accepted" in answer.content.decode()


def test_without_a_provider_there_is_no_such_door(db):
    assert "by-provider" not in Client().get("/login/").content.decode()
    assert Client().get("/oidc/").status_code in (302, 404)
