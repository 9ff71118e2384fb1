"""Run evaluations as an ordinary user: `python -m tests.evaluator.sandbox.ordinary JOB …`.

Prints one report per job file, as JSON lines. Started by `run_as_nobody`, which needs root.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from campaigns.evaluator.contract import Job, Report, dump, load_job, load_report
from campaigns.evaluator.sandbox import calls

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534
LIMIT_S = 300


def main(paths: list[str]) -> int:
    from campaigns.devices.launch import EvaluatorService

    with EvaluatorService() as service:
        for path in paths:
            report = service.evaluate(load_job(Path(path).read_text()))
            print(json.dumps(dump(report)), flush=True)
    return 0


def run_as_nobody(jobs: list[Job], *, namespaces: bool = True) -> list[Report]:
    """Evaluate `jobs` in a service that belongs to user 65534.

    namespaces: else as on a host that lets ordinary users make none.
    """
    with tempfile.TemporaryDirectory(prefix="kopt-nobody-") as folder:
        os.chown(folder, NOBODY, NOBODY)
        paths = []
        for number, job in enumerate(jobs):
            path = Path(folder, f"{number}.json")
            path.write_text(dump(job))
            paths.append(str(path))
        done = subprocess.run(
            [sys.executable, "-m", "tests.evaluator.sandbox.ordinary", *paths],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "KOPT_DATA": f"{folder}/data",
                "DJANGO_SETTINGS_MODULE": "kopt.settings",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            preexec_fn=partial(_become_nobody, None if namespaces else folder),
        )
    assert done.returncode == 0, done.stderr
    return [load_report(json.loads(line)) for line in done.stdout.splitlines()]


def _become_nobody(root: str | None) -> None:
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
    sys.exit(main(sys.argv[1:]))
