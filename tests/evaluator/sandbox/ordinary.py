"""Evaluate as an ordinary user: `python -m tests.evaluator.sandbox.ordinary`.

Takes a job a line and answers with a report a line, both as JSON. Started by `Ordinary`, which
needs root.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Self

from campaigns.evaluator.contract import Job, Report
from campaigns.evaluator.contract.files import dump, load_job, load_report
from campaigns.evaluator.sandbox.linux import calls

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534
LIMIT_S = 300


def main() -> int:
    from campaigns.devices.launch import EvaluatorService

    with EvaluatorService() as service:
        for line in sys.stdin:
            report = service.evaluate(load_job(json.loads(line)))
            print(json.dumps(dump(report)), flush=True)
    return 0


class Ordinary:
    """A service that belongs to user 65534, started when it is first needed; a context manager.

    namespaces: else as on a host that lets ordinary users make none.
    """

    def __init__(self, *, namespaces: bool = True) -> None:
        self._namespaces = namespaces
        self._stack = ExitStack()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(LIMIT_S)
        self._stack.close()

    def evaluate(self, job: Job) -> Report:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(dump(job)) + "\n")
        process.stdin.flush()
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        assert line, "the service of the ordinary user has ended, see its errors above"
        return load_report(json.loads(line))

    def _start(self) -> subprocess.Popen[str]:
        made = tempfile.TemporaryDirectory(prefix="kopt-nobody-")
        folder = self._stack.enter_context(made)
        os.chown(folder, NOBODY, NOBODY)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.evaluator.sandbox.ordinary"],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "KOPT_DATA": f"{folder}/data",
                "DJANGO_SETTINGS_MODULE": "kopt.settings",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=partial(become_nobody, None if self._namespaces else folder),
        )
        return self._stack.enter_context(process)


def become_nobody(root: str | None) -> None:
    """Change the user; folders on the way to Python that only root may enter are made passable.

    root: a folder that becomes the root, since who has another one may make no user namespace.
    """
    calls.unshare(calls.CLONE_NEWNS)
    calls.mount("", "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    for needed in {Path(sys.base_prefix), Path(sys.prefix), ROOT}:
        closed = [p for p in reversed(needed.parents) if not p.stat().st_mode & 0o001]
        if closed:
            handle = os.open(needed, os.O_PATH)
            calls.mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=755")
            needed.mkdir(parents=True)
            calls.mount(f"/proc/self/fd/{handle}", str(needed), flags=calls.MS_BIND | calls.MS_REC)
            os.close(handle)
    if root is not None:
        calls.mount("/", root, flags=calls.MS_BIND | calls.MS_REC)
        os.chroot(root)
        os.chdir(ROOT)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


if __name__ == "__main__":
    sys.exit(main())
