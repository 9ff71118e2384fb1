"""A full disk: what is stored can be read, and what cannot be stored is told in one sentence."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sqlite3
import subprocess
from pathlib import Path

import psycopg
import pytest
from django.core.files.uploadhandler import FileUploadHandler
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from knowledge.lookup.database import full_disk
from kopt import uploads
from kopt.database import database_settings, hold_open

STILL = "What is stored can still be read; nothing new is stored until space is freed."
NO_SPACE = OSError(errno.ENOSPC, "No space left on device", "/data/results/x.json")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 8 MB, and what fills it."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"no disk of its own: {done.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def fill(folder: Path) -> None:
    with (folder / "filled").open("ab", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def opened(folder: Path) -> sqlite3.Connection:
    """A connection as Django opens one for each request."""
    made = sqlite3.connect(folder / "kopt.sqlite3", isolation_level=None)
    made.executescript(database_settings(folder)["OPTIONS"]["init_command"])
    return made


def full_error() -> OperationalError:
    """What SQLite says of a write, as Django passes it on."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.execute("CREATE TABLE t (x)")
    made.execute("PRAGMA max_page_count = 2")
    try:
        made.execute("INSERT INTO t VALUES (randomblob(100000))")
    except sqlite3.OperationalError as error:
        raised = OperationalError(str(error))
        raised.__cause__ = error
        return raised
    finally:
        made.close()
    raise AssertionError


def test_sqlite_reads_on_a_full_disk_while_one_connection_is_held(small_disk, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    first = opened(small_disk)
    first.execute("CREATE TABLE t (x)")
    first.execute("INSERT INTO t VALUES (7)")
    first.close()
    held = hold_open(database_settings(small_disk))
    fill(small_disk)
    page = opened(small_disk)
    assert page.execute("SELECT x FROM t ORDER BY -x").fetchall() == [(7,)]
    with pytest.raises(sqlite3.OperationalError) as refused:
        page.execute("INSERT INTO t VALUES (randomblob(5000000))")
    assert STILL in full_disk(refused.value)
    page.close()
    held.close()
    # Without it: the last connection removes what the next one then cannot make.
    (small_disk / "filled").unlink()
    fill(small_disk)
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error") as refused:
        opened(small_disk)
    assert STILL in full_disk(refused.value)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NO_SPACE, "The disk of /data/results is full. "),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), " is full. "),
        (full_error(), " is full. "),
        (psycopg.errors.DiskFull("could not extend file"), "The disk of the database server is"),
        (OSError(errno.EACCES, "Permission denied"), None),
        (OperationalError("no such table: x"), None),
    ],
    ids=str,
)
def test_it_knows_a_full_disk_and_names_it(error, said):
    if said is None:
        assert full_disk(error) == ""
        return
    outer = ValueError("as a view may say it")
    outer.__cause__ = error
    assert said in full_disk(outer)
    assert full_disk(outer).endswith(STILL)


@pytest.fixture
def full(client, django_user_model, monkeypatch):
    """A person who is logged in, on a server that can write nothing more."""
    client.raise_request_exception = False
    client.force_login(django_user_model.objects.create_superuser("ada"))

    def refuse(execute, sql, params, many, context):
        if sql.split(None, 1)[0] in ("INSERT", "UPDATE", "DELETE"):
            raise full_error()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield client


@pytest.mark.parametrize("address", ["/", "/c/", "/c/new", "/w/", "/x/", "/tokens/", "/workers"])
def test_pages_are_read(full, address):
    assert full.get(address, follow=True).status_code == 200


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/login/", {"username": "ada", "password": "x"}),
        ("/logout/", {}),  # the session's own middleware writes here
        ("/tokens/", {"name": "x", "days": "3"}),
    ],
)
def test_a_page_that_stores_says_why_it_cannot(full, address, body):
    answer = full.post(address, body)
    assert answer.status_code == 507
    assert STILL in answer.content.decode()


def test_the_api_says_it_in_json(full):
    body = {"platform": "x-1", "why": "x"}
    headers = {"Idempotency-Key": "k"}
    answer = full.post("/api/v1/specs/", body, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (507, "application/problem+json")
    assert answer.json()["message"].endswith(STILL)


def test_an_upload_that_does_not_fit_says_so(client, django_user_model, monkeypatch):
    def refuse(*arguments, **options):
        raise NO_SPACE

    monkeypatch.setattr(FileUploadHandler, "new_file", refuse)
    client.raise_request_exception = False
    client.force_login(django_user_model.objects.create_superuser("ada"))
    with Path(__file__).open("rb") as file:
        answer = client.post("/w/imports/", {"files": file})
    assert answer.status_code == 507
    assert "The disk of /data/results is full. " in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("error", [full_error(), NO_SPACE], ids=["database", "file"])
def test_a_command_says_it_in_one_line(monkeypatch, error):
    def refuse(*arguments, **options):
        raise error

    monkeypatch.setattr("campaigns.management.commands.token.tokens_of", refuse)
    with pytest.raises(CommandError, match=STILL) as refused:
        call_command("token", "list")
    assert refused.value.returncode == 1


async def _asked(application, path, *chunks):
    """What an application answers to a body in these parts."""
    parts = [{"type": "http.request", "body": one, "more_body": True} for one in chunks]
    sent = []

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    await uploads.bounded(application)({"type": "http", "path": path}, receive, send)
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/w/imports/", "body: accepted: up to 10 bytes"),
        ("/api/v1/specs/", '"message": "body: accepted: up to 10 bytes"'),
    ],
)
def test_it_ends_a_body_before_the_disk_is_full_of_it(monkeypatch, path, said):
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)

    async def read_all(scope, receive, send):
        while True:
            await receive()

    status, text = asyncio.run(_asked(read_all, path, b"x" * 6, b"x" * 6, b"never read"))
    assert status == 413
    assert said in text


def test_it_says_that_a_body_did_not_fit_on_the_disk():
    async def refuse(scope, receive, send):
        raise NO_SPACE

    status, text = asyncio.run(_asked(refuse, "/api/v1/specs/"))
    assert (status, json.loads(text)["status"]) == (507, 507)
    assert os.path.dirname(NO_SPACE.filename) in text
