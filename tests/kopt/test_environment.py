"""Settings that come from the environment: nonsense ends a command in one line."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from kopt import environment as env
from kopt.database import database_settings

MANAGE = Path(settings.BASE_DIR) / "manage.py"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("KOPT_DATA", "/dev/null/x", "KOPT_DATA='/dev/null/x': Not a directory"),
        ("KOPT_LEASE_S", "abc", "KOPT_LEASE_S='abc': a number of at least 1"),
        ("DATABASE_URL", "nonsense", "DATABASE_URL: accepted is postgres://"),
        ("KOPT_LOG_LEVEL", "loud", "KOPT_LOG_LEVEL='LOUD': accepted are CRITICAL"),
    ],
)
def test_it_names_a_wrong_setting_in_one_line(
    name: str, value: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOPT_DATA", str(tmp_path))
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as caught:
        runpy.run_path(str(MANAGE.with_name("kopt") / "settings.py"))
    (line,) = str(caught.value).splitlines()
    assert line.startswith(said)


def test_a_command_ends_in_one_line_on_a_wrong_setting(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(MANAGE), "problem", "list"],
        env={**os.environ, "KOPT_DATA": str(tmp_path), "KOPT_LEASE_S": "abc"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("manage.py: KOPT_LEASE_S='abc': a number of at least 1")


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://host/name", "postgres://me:s3cret@host:port/name"]
)
def test_it_never_repeats_a_database_address(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(ImproperlyConfigured) as caught:
        database_settings(tmp_path)
    assert "s3cret" not in str(caught.value)


def test_it_takes_an_empty_database_address_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    assert database_settings(tmp_path)["NAME"] == str(tmp_path / "kopt.sqlite3")


def test_it_refuses_a_file_in_the_place_of_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.setenv("KOPT_DATA", str(tmp_path / "taken"))
    with pytest.raises(ImproperlyConfigured, match="File exists; accepted is a writable folder"):
        env.folder("KOPT_DATA", tmp_path)


def test_it_answers_to_the_names_of_this_machine_alone(tmp_path: Path) -> None:
    code = "from kopt import settings; print(*settings.ALLOWED_HOSTS)"
    clean = {name: text for name, text in os.environ.items() if name != "KOPT_HOSTS"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, "KOPT_DATA": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["127.0.0.1", "localhost", "[::1]"]
