"""`bench faults`: the proxy that breaks connections, the faults, and the table of effects."""

import json
import socket
import threading
import time
from argparse import Namespace
from collections import Counter
from types import SimpleNamespace

import pytest

from campaigns.benchmarks.faults import run
from campaigns.benchmarks.faults.registry import DISK, EMBEDDED, FAULTS, SERVER, HostFault
from campaigns.benchmarks.faults.servers import _through
from campaigns.benchmarks.faults.traffic import LOCAL, PageAnswer, Proxy
from campaigns.benchmarks.faults.watch import RAISED, Effect, Watch, read_before
from campaigns.benchmarks.harness import BenchmarkError


@pytest.fixture
def echo():
    """A proxy before a server that says everything back."""
    with socket.create_server((LOCAL, 0)) as server:

        def serve(client):
            with client:
                while data := client.recv(100):
                    client.sendall(data)

        def accept():
            while True:
                try:
                    client = server.accept()[0]
                except OSError:
                    return
                threading.Thread(target=serve, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        with Proxy(LOCAL, server.getsockname()[1]) as proxy:
            yield proxy
        server.shutdown(socket.SHUT_RDWR)


def connected(proxy):
    return socket.create_connection((LOCAL, proxy.port), timeout=5)


def said_back(client, text):
    client.sendall(text)
    return client.recv(100)


def test_a_proxy_passes_on_what_it_is_told(echo):
    with connected(echo) as client:
        assert said_back(client, b"one") == b"one"


def test_a_cut_ends_open_connections_and_takes_new_ones(echo):
    with connected(echo) as client:
        said_back(client, b"one")
        assert echo.cut() == 1
        assert client.recv(100) == b""
    with connected(echo) as client:
        assert said_back(client, b"two") == b"two"


def test_a_proxy_that_refuses_takes_nobody_until_it_passes_on(echo):
    with connected(echo) as client:
        said_back(client, b"one")
        echo.refuse()
        assert client.recv(100) == b""
    with pytest.raises(ConnectionRefusedError):
        connected(echo)
    echo.pass_on()
    with connected(echo) as client:
        assert said_back(client, b"two") == b"two"


def test_a_proxy_that_stalls_keeps_what_it_is_told_until_it_passes_on(echo):
    with connected(echo) as client:
        echo.stall()
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            said_back(client, b"one")
        echo.pass_on()
        client.settimeout(5)
        assert client.recv(100) == b"one"


def test_an_address_by_way_of_the_proxy_keeps_user_and_name():
    proxy = SimpleNamespace(port=4711)
    told = _through("postgresql://me:secret@db.example.org:5433/kopt", proxy)
    assert told == f"postgresql://me:secret@{LOCAL}:4711/kopt"
    assert _through("redis://queue/9", proxy) == f"redis://{LOCAL}:4711/9"
    assert _through("", None) == ""


def test_every_fault_has_a_name_of_its_own():
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
    for part in ("worker killed", "evaluator", "judge", "compiler", "web", "database", "broker"):
        assert any(part in name for name in names), part


@pytest.mark.parametrize(
    ("needs", "database", "own_disk", "lacking"),
    [
        ("", None, False, ""),
        (SERVER, None, False, "PostgreSQL and Redis"),
        (SERVER, "proxy", False, ""),
        (EMBEDDED, "proxy", False, "SQLite"),
        (DISK, None, True, ""),
    ],
)
def test_a_fault_says_what_it_lacks(needs, database, own_disk, lacking):
    servers = SimpleNamespace(database=database, own_disk=own_disk)
    assert HostFault("made up", print, print, needs).lacks(servers) == lacking


def seen(**more):
    """The effect of a fault after which work went on."""
    return Effect(**{"fault": "a", "noticed_s": 0.4, "result_s": 7.25, "state": "done", **more})


def test_a_row_says_what_was_seen():
    effect = seen(by="a | b", outcomes=Counter(passed=2), note="said")
    row = effect.as_row(None)
    assert (row["noticed after s"], row["next result after s"], row["lost"]) == ("0.4", "7.2", 0)
    assert row["seen"].startswith(
        "said; campaign done; results after it: 2 passed; first sign: a /"
    )
    assert "before" not in row


@pytest.mark.parametrize(
    ("effect", "whole"),
    [
        (seen(), True),
        (Effect("a", skipped="needs SQLite"), True),
        (seen(lost=1), False),
        (seen(doubled=1), False),
        (seen(held=1), False),
        (seen(broken=1), False),
        (seen(unmet=True), False),
        (seen(outcomes=Counter(broken_host=1, passed=1)), True),
        (seen(outcomes=Counter(build_failed=1)), False),
        (seen(state="aborted"), False),
        (seen(state="validate"), False),
    ],
)
def test_only_a_fault_without_harm_leaves_nothing_behind(effect, whole):
    assert effect.is_whole is whole
    assert run.report_of([effect], [], 180).held is whole


def test_an_earlier_run_stands_beside_its_fault(tmp_path):
    file = tmp_path / "before.json"
    row = seen(result_s=None, lost=2).as_row(None)
    file.write_text(json.dumps({"tables": {"On SQLite": [row]}}))
    before = read_before([file])
    now = seen().as_row(before["On SQLite"]["a"])
    assert now["before"].startswith("noticed after s 0.4, next result after s never, lost 2,")
    assert seen(fault="b").as_row({})["before"] == "–"


@pytest.mark.parametrize("text", ["", "[]", '{"tables": [1]}', '{"tables": {"a": [{}]}}'])
def test_a_file_that_is_no_earlier_run_is_refused_by_name(tmp_path, text):
    file = tmp_path / "before.json"
    file.write_text(text)
    with pytest.raises(BenchmarkError, match=r"--against .*before\.json: .*accepted is the JSON"):
        read_before([file])


class Quiet:
    """An installation whose rows a test writes. results: outcomes by the key of an evaluation."""

    def __init__(self, folder):
        self.log = folder / "up.log"
        self.log.write_text("said before\n")
        self.results = {1: "passed", 2: ""}
        self.logs = [self.log]

    def revive(self):
        pass

    def select(self, sql):
        if "campaigns_evaluation" in sql:
            return list(self.results.items())
        if "max(id)" in sql:
            return [(7,)]
        return [] if "campaigns_event" in sql else [("done" if self.results[2] else "validate",)]


def watched(tmp_path, during, status=200):
    servers = Quiet(tmp_path)
    page = SimpleNamespace(get=lambda path, limit_s: PageAnswer(status, 0.1))
    found = Effect("a")
    with Watch(found, servers, 1, page):
        during(servers)
        deadline = time.monotonic() + 60
        while not found.finished and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
    return found


def test_a_watch_sees_only_what_came_after_the_fault(tmp_path):
    found = watched(tmp_path, lambda servers: servers.results.update({2: "passed"}))
    assert found.noticed_s is None
    assert found.result_s is not None
    assert (found.outcomes, found.state) == (Counter(passed=1), "done")


@pytest.mark.parametrize("outcome", ["broken_host", "build_failed"])
def test_what_did_not_pass_is_a_sign_and_no_result(tmp_path, outcome):
    found = watched(tmp_path, lambda servers: servers.results.update({2: outcome}))
    assert (found.by, found.result_s) == (f"a result of {outcome}", None)


def test_a_line_of_a_log_is_a_sign(tmp_path):
    def during(servers):
        with servers.log.open("a") as log:
            log.write("a.b.KeyError: 'c'\n")
        servers.results[2] = "passed"

    found = watched(tmp_path, during)
    assert (found.by, found.raised) == ("up.log: a.b.KeyError: 'c'", Counter(KeyError=1))


@pytest.mark.parametrize(("status", "count"), [(500, "broken"), (0, "unanswered")])
def test_a_page_that_fails_is_counted(tmp_path, status, count):
    found = watched(tmp_path, lambda servers: servers.results.update({2: "passed"}), status)
    assert getattr(found, count) > 0
    assert found.by.startswith("/c/ ")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("django.db.utils.OperationalError: database is locked", "OperationalError"),
        ("KeyError: 'a'", "KeyError"),
        ("campaigns.devices.hold.DeviceBusy: cpu is held", "DeviceBusy"),
        ('  raise OperationalError("a")', None),
        ("2026-01-01 WARNING heartbeat not written: OperationalError", None),
    ],
)
def test_errors_are_counted_by_the_last_line_of_their_trace(line, name):
    found = RAISED.match(line)
    assert (found and found[1]) == name


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"database": "postgresql://host/postgres"}, "both or neither"),
        ({"limit_s": 5}, "--limit-s 5: 30 to 3600"),
        ({"only": ["earthquake"]}, "--only earthquake: no such fault; accepted: none, to"),
    ],
)
def test_wrong_options_are_refused_before_anything_starts(options, words):
    usual = {"database": "", "broker": "", "no_embedded": False, "limit_s": 180}
    asked = Namespace(**{**usual, "only": None, "against": None, **options})
    with pytest.raises(BenchmarkError, match=words):
        run.measure_faults(asked, print)
