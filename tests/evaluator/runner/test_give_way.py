"""A runner that builds ahead lets what is measured have the CPU first."""

import os
import subprocess
import sys

TELL = "import os; print(os.sched_getscheduler(0))"


def test_what_it_starts_is_idle_work_too():
    code = (
        "import subprocess, sys; from campaigns.evaluator.runner.main import give_way; give_way();"
        f"subprocess.run([sys.executable, '-c', {TELL!r}], check=True)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) == os.SCHED_IDLE != os.sched_getscheduler(0)
