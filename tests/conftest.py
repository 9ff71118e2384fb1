"""Fixtures and rules for the whole suite."""

import importlib.util
import os
import shutil
import zlib

import pytest
from django.db import connection
from django.test import override_settings
from hypothesis import HealthCheck, settings
from whitenoise.middleware import WhiteNoiseMiddleware

from kopt import celery_app
from tools.kernels import has_nvidia_card

# Playwright's synchronous interface runs an event loop in the thread that uses the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# How busy the host is says nothing about the code. What is set already, as on CI, stays as it is.
settings.register_profile(
    "kopt", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kopt")


def pytest_collection_modifyitems(config, items):
    _take_a_share(config, items)
    missing = {"gpu": _no_cuda(), "browser": _no_browser()}
    for item in items:
        for marker, reason in missing.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _take_a_share(config, items):
    """With KOPT_TESTS_SHARE=K/N leave out all but one Nth of what takes long: see .ci/run.

    That is what is marked slow, drives a browser, or has candidates judged by a running service.
    """
    share = os.environ.get("KOPT_TESTS_SHARE")
    if not share:
        return
    number, of = map(int, share.split("/"))
    out = [item for item in items if _takes_long(item) and _drawn(item) % of != number]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]


def _takes_long(item):
    marked = any(item.get_closest_marker(name) for name in ("slow", "browser"))
    return marked or "service" in item.fixturenames


def _drawn(item):
    """The same number on every machine and in every process."""
    return zlib.crc32(item.nodeid.encode())


def _no_cuda():
    if not has_nvidia_card():
        return "no CUDA device on this machine"
    if importlib.util.find_spec("torch") is None:
        return "no torch here"
    return "" if importlib.import_module("torch").version.cuda else "torch is built without CUDA"


def _no_browser():
    return "" if shutil.which("chromium") else "no chromium on PATH (apt-get install chromium)"


@pytest.fixture(autouse=True, scope="session")
def _queue_of_its_own(tmp_path_factory):
    """Keep the suite's messages away from the workers of a running kopt: their rows differ."""
    options = dict(celery_app.conf.broker_transport_options)
    for name in ("data_folder_in", "data_folder_out", "control_folder"):
        if name in options:
            options[name] = str(tmp_path_factory.mktemp(name.removesuffix("_in")))
    if "data_folder_in" in options:
        options["data_folder_out"] = options["data_folder_in"]
    celery_app.conf.broker_transport_options = options


@pytest.fixture(autouse=True, scope="session")
def _flush_past_the_triggers():
    """Let Django empty the tables between tests where it has to do so by DELETE.

    PostgreSQL's TRUNCATE fires no trigger for rows. In SQLite the triggers that refuse a deletion
    are dropped and made again within the transaction of the flush.
    """
    if connection.vendor != "sqlite":
        yield
        return
    operations = type(connection.ops)
    plain = operations.sql_flush

    def sql_flush(self, *args, **kwargs):
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            kept = {name: sql for name, sql in cursor.fetchall() if " BEFORE DELETE ON " in sql}
        drops = [f"DROP TRIGGER {name}" for name in kept]
        return [*drops, *plain(self, *args, **kwargs), *kept.values()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "sql_flush", sql_flush)
        yield


@pytest.fixture(autouse=True, scope="session")
def _static_files_found_once():
    """Look for static files once and not for every client: they are the same for all of them.

    A client makes the middleware anew, which reads the dates of all files, Django's own included.
    """
    look = WhiteNoiseMiddleware.add_files_from_finders
    found = {}

    def add_files_from_finders(self):
        if self.static_prefix not in found:
            before, self.files = self.files, {}
            look(self)
            found[self.static_prefix], self.files = self.files, before
        self.files.update(found[self.static_prefix])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files_from_finders)
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_passwords():
    """Django's own hash takes a third of a second for each password that is set or checked."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def _data_folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT = settings.DATA_DIR / "static"
    settings.STATIC_ROOT.mkdir(parents=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, tmp_path_factory):
    """Keep SQLite's test database in a file.

    In memory all threads of a live server share one connection, and then find tables locked that
    another of them reads.
    """
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
