"""What a hostile author writes at the top of `ref.py`: it reads, writes, sends and kills.

It says by an exception what it reached, since nothing else should leave the box. Each attempt is
harmless where it succeeds: a file of a few bytes, a connection to the test's own port, the end of a
process of the test's own.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECRET = "hunter2-in-the-environment"
SOURCE = """
import glob, json, os, signal, socket, subprocess

class Attack:
    def reached(self):
        found = []
        def attempt(name, do):
            try:
                answer = do()
            except (OSError, AttributeError):
                return
            if answer not in (None, [], ""):
                found.append(f"{name} {answer}"[:120])
        def environments():
            told = []
            for path in ["/proc/self/environ", *glob.glob("/proc/[0-9]*/environ")]:
                try:
                    with open(path, "rb") as told_of:
                        told += [path] if SECRET.encode() in told_of.read() else []
                except OSError:
                    pass
            return told + [name for name, value in os.environ.items() if SECRET in value]
        def written():
            for folder in FOLDERS:
                try:
                    with open(os.path.join(folder, "reached-by-a-reference"), "w") as mark:
                        mark.write("x")
                except OSError:
                    pass
        def sent():
            with socket.create_connection(("127.0.0.1", PORT), 2) as line:
                line.sendall(b"reached")
            return "sent"
        def killed():
            told = []
            for pid in [PID, os.getppid(), *map(int, filter(str.isdigit, os.listdir("/proc")))]:
                if pid not in (0, os.getpid()):
                    try:
                        os.kill(pid, signal.SIGKILL if pid == PID else 0)
                        told.append(pid)
                    except OSError:
                        pass
            return [pid for pid in told if pid != 1]
        attempt("environment", environments)
        def text_of(path):
            with open(path) as file:
                return file.read()
        attempt("database", lambda: text_of(DATABASE))
        attempt("home", lambda: os.listdir(os.path.expanduser("~root")))
        attempt("shadow", lambda: text_of("/etc/shadow"))
        attempt("write", written)
        attempt("send", sent)
        attempt("shell", lambda: subprocess.run(
            ["sh", "-c", f"cat {DATABASE}; echo x > {FOLDERS[0]}/reached-by-a-reference"],
            capture_output=True, text=True).stdout)
        attempt("kill", killed)
        attempt("become root", lambda: os.setuid(0) or "root")
        return found

raise RuntimeError("it reached " + json.dumps(Attack().reached()))
"""


@dataclass(frozen=True)
class Target:
    """What of this host a reference may try to reach."""

    source: str
    folders: tuple[Path, ...]
    victim: subprocess.Popen[bytes]
    heard: list[bytes]

    def marks(self) -> list[Path]:
        """The files that it has left."""
        return [mark for f in self.folders if (mark := f / "reached-by-a-reference").exists()]

    def assert_unhurt(self) -> None:
        """Nothing was written, sent or killed, however the attempt was told of."""
        assert self.marks() == []
        assert self.heard == []
        assert self.victim.poll() is None


@contextmanager
def target(folder: Path) -> Iterator[Target]:
    """Set a target up, with a database file in `folder`."""
    database = folder / "db.sqlite3"
    database.write_text(SECRET)
    for path in (folder, database):
        path.chmod(0o777)
    folders = (folder, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path.cwd())
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server, victim:
        port = server.getsockname()[1]
        threading.Thread(target=_listen, args=(server, heard), daemon=True).start()
        values = {
            "SECRET": SECRET,
            "DATABASE": str(database),
            "FOLDERS": [str(f) for f in folders],
            "PORT": port,
            "PID": victim.pid,
        }
        given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        yield Target(given + SOURCE, folders, victim, heard)
        victim.kill()


def _listen(server: socket.socket, heard: list[bytes]) -> None:
    while True:
        try:
            line, _ = server.accept()
        except OSError:
            return
        heard.append(b"somebody")
        line.close()
