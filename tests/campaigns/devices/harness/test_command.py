"""A command of a harness in its sandbox."""

from pathlib import Path

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.harness.command import run

pytestmark = pytest.mark.sentinel


@pytest.fixture
def work(tmp_path):
    for name in ("tree", "home"):
        (tmp_path / name).mkdir()
    return tmp_path


def ask(command, work, limit_s=60.0, beat=lambda: None):
    return run(command, work, this_device("cpu"), limit_s, beat)


def test_it_runs_in_its_tree_and_keeps_what_it_writes(work):
    ended = ask('echo told; echo said >&2; echo 1 > out.csv; pwd; echo "$HOME"; exit 7', work)
    assert ended.status == 7
    assert ended.printed == b"told\n/harness/tree\n/harness/home\n"
    assert "said" in ended.log
    assert (work / "tree" / "out.csv").read_text() == "1\n"


def test_it_sees_neither_the_host_nor_its_network(work):
    secret = work.parent / "secret"
    secret.write_text("ours")
    told = ask(
        f"cat {secret}; cat /etc/shadow; ls /proc | grep -c '^[0-9]'; touch /usr/mine; "
        "python -c 'import socket; socket.create_connection((\"127.0.0.1\", 5432), 1)'",
        work,
    )
    assert "ours" not in told.log
    assert told.log.count("No such file") == 2
    assert "Read-only file system" in told.log
    # Refused by Landlock, or where there is none by a network without an interface.
    assert "Permission denied" in told.log or "Network is unreachable" in told.log
    # The command, and what it runs to count them.
    assert int(told.printed.split()[0]) < 6


def test_it_is_ended_with_all_that_it_started(work):
    mark = work / "tree" / "mark"
    command = "(sleep 2; touch mark) & setsid sh -c 'sleep 2; touch mark' & sleep 60"
    assert ask(command, work, limit_s=1.0).status is None
    assert ask("sleep 3", work).status == 0
    assert not mark.exists()


def test_what_its_heartbeat_raises_ends_it(work):
    class Lost(Exception):
        pass

    def beat():
        raise Lost

    with pytest.raises(Lost):
        ask("sleep 60", work, beat=beat)


def test_a_signal_is_told_as_a_shell_does(work):
    assert ask("kill -SEGV $$", work).status == 139


def test_it_cannot_write_to_the_interpreter(work):
    target = Path(pytest.__file__)
    ended = ask(f"echo broken >> {target}", work)
    assert ended.status != 0
    assert "broken" not in target.read_text()
