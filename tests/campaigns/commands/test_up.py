"""`up`: one terminal that starts, watches and ends its processes."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import update_last_login
from django.core.management import CommandError, call_command

from campaigns.management.children import Child, ChildFails, end_all, web, worker
from campaigns.management.commands import up
from campaigns.models import Campaign
from knowledge.curation.errors import Conflict
from knowledge.lookup.database import MissingMigrations
from knowledge.models import Platform
from tests.campaigns.steps import cast

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(60)
"""


def python(code: str, *arguments: str) -> Child:
    return Child("test", (sys.executable, "-c", code, *arguments), Path.cwd())


def end_and_revive(child: Child, said: list[str]) -> None:
    assert child.process is not None
    child.process.wait()
    child.revive(said.append)


def is_alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_it_says_in_one_line_that_the_port_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"--port {port} on 127.0.0.1: Address already"):
            call_command("up", "--port", str(port))
    with pytest.raises(CommandError, match="--port 99999"):
        call_command("up", "--port", "99999")


@pytest.mark.parametrize("step", ["prepare_database", "prepare_platform"])
def test_it_says_in_one_line_that_the_wiki_is_busy(monkeypatch, tmp_path, settings, step) -> None:
    def busy(*args: object, **options: object) -> None:
        raise Conflict("somebody else has been writing to the wiki; try again")

    settings.STATIC_ROOT = tmp_path
    for name in ("prepare_database", "prepare_platform"):
        monkeypatch.setattr(up, name, busy if name == step else lambda *_, **__: None)
    with pytest.raises(CommandError, match=r"^wiki: somebody else has been") as refused:
        call_command("up", "--port", "0")
    assert refused.value.returncode == 1


@pytest.mark.django_db
def test_law_1_it_starts_no_demo_without_ceilings_and_says_why(capsys) -> None:
    up.Command()._start_demo(cast.DEVICE, cast.make_platform())
    assert "no demo campaign: platform: bandwidth: UNKNOWN" in capsys.readouterr().err
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_it_makes_the_first_user_and_keeps_only_the_hash() -> None:
    password = up._first_password()
    user = get_user_model().objects.get()
    assert user.is_superuser
    assert user.check_password(password)
    assert password not in user.password


@pytest.mark.django_db
def test_it_replaces_the_first_password_until_somebody_logs_in() -> None:
    first, second = up._first_password(), up._first_password()
    user = get_user_model().objects.get()
    assert user.check_password(second)
    assert not user.check_password(first)
    update_last_login(get_user_model(), user)
    assert up._first_password() == ""


@pytest.mark.django_db
def test_it_leaves_accounts_that_a_person_made_alone() -> None:
    get_user_model().objects.create_user("alice", password="chosen")
    get_user_model().objects.create_user("kopt", password="chosen")
    assert up._first_password() == ""
    assert get_user_model().objects.get(username="kopt").check_password("chosen")


def test_it_starts_a_dead_process_again_and_gives_up_on_a_hopeless_one() -> None:
    child, said = python("pass"), []
    child.start()
    for _ in range(4):
        end_and_revive(child, said)
    with pytest.raises(ChildFails, match="test ended 5 times"):
        end_and_revive(child, said)
    assert said[0] == "test ended with status 0; starting it again"


def test_it_leaves_a_living_process_alone() -> None:
    child = python("import time; time.sleep(60)")
    child.start()
    assert child.process is not None
    pid = child.process.pid
    child.revive(pytest.fail)
    assert child.process.pid == pid
    end_all([child])
    assert child.process.returncode is not None


def test_it_kills_a_stubborn_process_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.management.children.STOP_LIMIT_S", 0.2)
    note = tmp_path / "pid"
    child = python(STUBBORN, str(note))
    child.start()
    deadline = time.monotonic() + 60
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    end_all([child])
    while is_alive(int(note.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(int(note.read_text()))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "started"),
    [
        ((), ["web server", "flow worker", "measure worker"]),
        (("--only", "web"), ["web server"]),
        (("--only", "flow"), ["flow worker"]),
        (("--only", "measure", "--name", "second"), ["second worker"]),
        (("--only", "web", "--only", "flow"), ["web server", "flow worker"]),
    ],
)
def test_it_starts_all_parts_or_those_that_are_named(monkeypatch, settings, options, started):
    seen: dict[str, object] = {"prepared": False}
    settings.KOPT_DEVICE = "cpu"

    def prepare(*_: object) -> None:
        seen["prepared"] = True

    def supervise(self: object, children: list[Child], *_: object) -> None:
        seen["children"] = [child.name for child in children]
        seen["queues"] = [
            c.command[c.command.index("-Q") + 1] for c in children if "-Q" in c.command
        ]

    def platform(device: object, *_: object, **__: object) -> Platform:
        return Platform.objects.create(slug="here", name="Here", kind="cpu")

    monkeypatch.setattr(up, "prepare_database", prepare)
    monkeypatch.setattr(up, "prepare_platform", platform)
    monkeypatch.setattr(up.connections, "close_all", lambda: None)
    monkeypatch.setattr(up.Command, "_supervise", supervise)
    call_command("up", "--port", "0", *options)
    assert seen["children"] == started
    assert seen["prepared"] == (not options)
    wanted = {"flow worker": "default", "web server": None}
    assert seen["queues"] == [q for one in started if (q := wanted.get(one, "platform.here"))]


@pytest.mark.django_db
def test_a_part_alone_says_that_the_database_is_not_prepared(monkeypatch) -> None:
    def missing() -> None:
        raise MissingMigrations("database: 1 migration is missing (x)")

    monkeypatch.setattr(up, "require_migrations", missing)
    with pytest.raises(CommandError, match="1 migration is missing") as refused:
        call_command("up", "--only", "flow")
    assert refused.value.returncode == 1


def test_it_serves_each_queue_with_the_threads_it_is_given() -> None:
    command = worker("measure", "platform.x", 1, Path.cwd()).command
    assert command[command.index("-Q") + 1] == "platform.x"
    assert command[command.index("-c") + 1] == "1"
    assert "--timeout-graceful-shutdown" in web("::1", 80, Path.cwd()).command
    assert os.path.basename(command[0]).startswith("python")
