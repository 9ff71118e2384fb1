"""Fixtures and rules for the whole suite."""

import gc
import hashlib
import importlib.util
import os
import shutil
from pathlib import Path

import django
import pytest
from django.conf import settings as settings_of_django
from django.db import connection
from django.test import override_settings
from hypothesis import HealthCheck, settings
from whitenoise.middleware import WhiteNoiseMiddleware

from campaigns.devices import launch
from campaigns.records import rounds
from kopt import celery_app
from tests.around import built_around
from tests.kept_wiki import put_wiki
from tests.quick import QuickRule
from tests.sentinels import is_sentinel
from tools.kernels import has_nvidia_card

# Playwright's synchronous interface runs an event loop in the thread that uses the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# A busy host makes an example slow, which is no fault of the code. The examples are few and the
# same on every day; `make test-all` draws four times as many new ones.
settings.register_profile(
    "explore", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "kopt", settings.get_profile("explore"), derandomize=True, max_examples=25
)
settings.load_profile("kopt")


# These fixtures start the evaluator and have a candidate judged, or hand out what does.
JUDGING = {"service", "bounded", "ordinary", "with_layers", "installation", "product", "soaked"}


def pytest_collection_modifyitems(items):
    missing = {"gpu": _no_cuda(), "browser": _no_browser()}
    for item in items:
        if JUDGING & set(item.fixturenames) or item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.judged)
        if _is_sentinel(item):
            item.add_marker(pytest.mark.sentinel)
        for marker, reason in missing.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _is_sentinel(item):
    """Whether this test has one of the candidates of tests/sentinels.py judged."""
    trick = getattr(item, "callspec", None) and item.callspec.params.get("trick")
    if trick is None or "service" not in item.fixturenames or item.get_closest_marker("gpu"):
        return False
    return is_sentinel(trick.name, honest=trick.honest)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Refuse to start the evaluator for a test without the mark `judged`."""
    if item.get_closest_marker("judged"):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_start", _refuse_to_start)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Hold a quick test to its time (`tests/quick.py`)."""
    rule = QuickRule.of(item)
    answer = yield
    rule.check()
    return answer


def pytest_collection_finish():
    """Let the collector of garbage pass over what was imported and collected, a million objects."""
    gc.collect()
    gc.freeze()


def _refuse_to_start(*arguments):
    pytest.fail("it has a candidate judged: mark it with @pytest.mark.judged")


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
    """Give the suite a queue of its own: the workers of a running kopt have other rows."""
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
    """Look for static files once for all clients.

    Each client makes a new middleware, which reads the dates of all files, also those of Django.
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
    """Use a quick hash: Django's own takes a third of a second for each password."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def _no_closed_round_of_another_test():
    """Samples close theirs at one time, and a rollback gives the same keys again."""
    rounds._closed.clear()


@pytest.fixture(autouse=True)
def _data_folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT = settings.DATA_DIR / "static"
    settings.STATIC_ROOT.mkdir(parents=True)


@pytest.fixture(scope="module")
def wiki_of_module(django_db_setup, django_db_blocker):
    """The shipped wiki, for all tests of a module from the first one that asks for it."""
    with built_around(django_db_blocker, put_wiki):
        yield


@pytest.fixture(scope="session")
def migrated():
    """The file of a SQLite database with all migrations applied; the first session makes it."""
    digest = hashlib.sha256(django.__version__.encode())
    for path in sorted(Path(settings_of_django.BASE_DIR).glob("*/migrations/*.py")):
        digest.update(path.read_bytes())
    return Path(
        settings_of_django.BASE_DIR, "var", "migrated", f"{digest.hexdigest()[:16]}.sqlite3"
    )


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, migrated, tmp_path_factory):
    """Keep SQLite's test database in a file.

    In memory all threads of a live server share one connection, and then find tables locked that
    another of them reads.
    """
    if connection.vendor == "sqlite":
        own = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(own)
        if migrated.exists():
            shutil.copyfile(migrated, own)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings):
    """Go on with the copy, where there is one."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker, migrated):
    """Keep what was migrated for later sessions, and nothing that older migrations made."""
    if connection.vendor != "sqlite" or migrated.exists():
        return
    migrated.parent.mkdir(parents=True, exist_ok=True)
    for older in migrated.parent.glob("*.sqlite3"):
        older.unlink(missing_ok=True)
    own = migrated.with_suffix(f".{os.getpid()}")
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(own)])
    own.replace(migrated)
