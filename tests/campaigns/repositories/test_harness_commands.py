"""A command of a harness in its sandbox."""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from campaigns.devices.discover import this_device
from campaigns.evaluator.sandbox.linux import calls
from campaigns.repositories.harness import HostBroken, run_command
from tests.evaluator.sandbox.ordinary import NOBODY, become_nobody

pytestmark = pytest.mark.sentinel


@pytest.fixture
def work(tmp_path):
    for name in ("tree", "home"):
        (tmp_path / name).mkdir()
    return tmp_path


def ask(command, work, limit_s=60.0, beat=lambda: None):
    return run_command(command, work, this_device("cpu"), limit_s, beat)


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


@pytest.fixture
def small(settings):
    """Limits that are soon met."""
    settings.KOPT_HARNESS_MIB, settings.KOPT_RUNNER_MIB = 32.0, 600.0


MOST = r"32 MiB and 2,048 files are allowed, the tree's among them \(KOPT_HARNESS_MIB\)"
TEMPORARY = "1,024 MiB and 20,000 files are allowed"
MEMORY = r"took more memory than the 600 MiB that are allowed \(KOPT_RUNNER_MIB\)"
MANY_FILES = "for i in range(3000): open(f'{i}', 'x')"
# Memory that is really used, in processes that each take less than they may.
MANY_PROCESSES = """
import os, time
for _ in range(20):
    if not os.fork():
        held = bytearray(os.urandom(1 << 20)) * 100
        time.sleep(60)
time.sleep(60)"""
GREEDY = {
    "one file": ("head -c 60M /dev/zero > big; sleep 60", f"filled /harness: {MOST}"),
    "many small files": (f'python -c "{MANY_FILES}"; sleep 60', f"filled /harness: {MOST}"),
    "what it prints": ("yes; sleep 60", f"filled /tmp: {TEMPORARY}|{MEMORY}"),
    "what it then removes": (
        "head -c 60M /dev/zero > big || { rm big; exit 1; }",
        f"(filled /harness|had no room to write): {MOST}",
    ),
    "temporary files": (
        "for i in $(seq 20001); do : > /tmp/$i; done; sleep 60",
        f"filled /tmp: {TEMPORARY}",
    ),
    "holes": ("truncate -s 60M big", f"left files that are not kept: .*; {MOST}"),
    "names of one file": (
        "head -c 10M /dev/zero > a; ln a b; ln a c; ln a d",
        f"left files that are not kept: .*; {MOST}",
    ),
    "memory of many processes": (f"python -c '{MANY_PROCESSES}'", MEMORY),
}


@pytest.mark.parametrize("what", GREEDY)
def test_one_that_takes_too_much_is_ended_and_leaves_nothing_on_the_disk(work, small, what):
    command, words = GREEDY[what]
    begun = time.monotonic()
    ended = ask(command, work)
    assert time.monotonic() - begun < 30
    assert_that_it_was_over(ended, words, work)


@pytest.fixture
def as_nobody():
    """Do something as an ordinary user, who is handed a folder to work in."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    work = Path(tempfile.mkdtemp(prefix="kopt-nobody-"))
    for folder in (work, work / "tree", work / "home"):
        folder.mkdir(exist_ok=True)
        os.chown(folder, NOBODY, NOBODY)

    def do(body):
        def become_and_do():
            become_nobody(None)
            body(work)

        assert calls.in_child(become_and_do) == ""

    yield do
    shutil.rmtree(work)


@pytest.mark.parametrize("what", ["one file", "memory of many processes"])
def test_an_ordinary_users_worker_bounds_it_too(small, as_nobody, what):
    command, words = GREEDY[what]
    as_nobody(lambda work: assert_that_it_was_over(ask(command, work), words, work))


def test_it_cannot_get_at_what_its_first_process_holds_open(work, as_nobody):
    def look(work):
        assert ask("ls /proc/1/fd/ /proc/1/root/ || kill -9 1 || echo no", work).printed == b"no\n"

    look(work)
    as_nobody(look)


def assert_that_it_was_over(ended, words, work):
    assert re.fullmatch(words, ended.over)
    assert sum(path.lstat().st_size for path in work.rglob("*") if path.is_file()) <= 32 << 20


def test_a_tree_that_is_too_large_is_refused_before_the_command(work, small):
    (work / "tree" / "data").write_bytes(bytes(33 << 20))
    ended = ask("echo begun", work)
    assert (ended.printed, ended.status) == (b"", 1)
    assert re.fullmatch(f"has too large a tree: {MOST}", ended.over)


def test_the_next_command_finds_what_one_left_as_it_was(work):
    left = (
        "echo 1 > made; touch -d '2001-01-01 00:00:00.123456789' made; ln -s made link; "
        "mkdir -p a/b; touch a/b/c; cp /bin/true tool; chmod 4755 tool; mkfifo pipe; touch ~/kept"
    )
    assert ask(left, work).status == 0
    ended = ask("stat -c '%a %y' made; stat -c %a tool a; ./tool && cat a/b/c link; ls ~", work)
    assert ended.printed.decode().splitlines() == [
        "600 2001-01-01 00:00:00.123456789 +0000",
        "755",
        "700",
        "1",
        "kept",
    ]
    # By whoever it is run, it is run as that user.
    assert (work / "tree" / "tool").stat().st_mode & 0o7777 == 0o755
    assert not (work / "tree" / "pipe").exists()


def test_a_link_in_place_of_the_tree_is_not_followed(work):
    ask("mv /harness/tree /harness/other; ln -sT /etc /harness/tree", work)
    assert not list((work / "tree").iterdir())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a disk")
def test_a_host_whose_own_disk_is_full_is_broken(work):
    def tried():
        calls.unshare(calls.CLONE_NEWNS)
        calls.mount("", "/", flags=calls.MS_REC | calls.MS_PRIVATE)
        calls.mount("tmpfs", str(work / "tree"), "tmpfs", 0, "size=1m")
        (work / "tree" / "tree").mkdir()
        (work / "tree" / "home").mkdir()
        with pytest.raises(HostBroken, match="No space left on device"):
            ask("head -c 3M /dev/zero > big", work / "tree")

    assert calls.in_child(tried) == ""
