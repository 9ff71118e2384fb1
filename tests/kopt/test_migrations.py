"""A database that lacks tables: every command and every page says so, and how to get them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.urls import reverse

import campaigns.migrations
from knowledge.lookup import database
from knowledge.lookup.database import MissingMigrations, missing_migrations, require_migrations

FOLDER = Path(campaigns.migrations.__path__[0])
LAST = f"campaigns.{max(file.stem for file in FOLDER.glob('0*.py'))}"
SAID = f"database: 1 migration is missing ({LAST}); apply them with `.venv/bin/python manage.py"


@pytest.fixture
def half(db, monkeypatch):
    """As after new code was fetched: everything is there but the last migration."""
    app, _, name = LAST.partition(".")
    MigrationRecorder.Migration.objects.filter(app=app, name=name).delete()
    monkeypatch.setattr(database._Prepared, "known", False)


@pytest.mark.storage
def test_it_names_what_is_missing_as_djangos_own_plan_does(half):
    from django.db import connection

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    assert missing_migrations() == [f"{one.app_label}.{one.name}" for one, _ in plan] == [LAST]


@pytest.mark.parametrize(
    "command",
    [
        ("campaign", "new", "--problem", "softmax", "--backend", "cpp", "--platform", "x-1"),
        ("campaign", "list"),
        ("spec", "list"),
        ("wiki", "import"),
        ("experience", "list"),
        ("device", "list"),
        ("token", "list"),
        ("repository", "list"),
    ],
    ids=" ".join,
)
def test_every_command_says_so(half, command):
    with pytest.raises(CommandError) as refused:
        call_command(*command)
    assert str(refused.value).startswith(SAID)
    assert refused.value.returncode == 1


@pytest.mark.parametrize("name", ["home", "login", "campaigns", "knowledge:home", "health"])
def test_every_page_says_so(half, client, name):
    answer = client.get(reverse(name))
    assert answer.status_code == 503
    assert LAST in answer.content.decode()
    assert answer.headers["Retry-After"] == "5"


def test_the_api_says_so_in_json(half, client):
    answer = client.get("/api/v1/specs/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
    assert answer.json()["message"].startswith(SAID)


def test_it_asks_once_and_never_again(half, django_assert_num_queries, monkeypatch):
    with pytest.raises(MissingMigrations):
        require_migrations()
    app, _, name = LAST.partition(".")
    MigrationRecorder.Migration.objects.create(app=app, name=name)
    require_migrations()
    with django_assert_num_queries(0):
        require_migrations()


def test_it_says_it_of_a_database_without_any_table(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "kopt.sqlite3").close()
    done = manage(tmp_path, "campaign", "list")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "migrations are missing (" in line
    assert line.endswith("; apply them with `.venv/bin/python manage.py migrate`")


def test_it_lets_commands_work_that_need_no_database(tmp_path: Path) -> None:
    assert manage(tmp_path, "problem", "list").returncode == 0
    assert manage(tmp_path, "wiki", "check").returncode == 0  # the files alone


def manage(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of an installation with its data in this folder."""
    environment = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *words],
        env={**environment, "KOPT_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
