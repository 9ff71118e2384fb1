"""`doctor`: what this host has, what is missing, what that costs and how to get it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from campaigns.devices.host_health import examine
from campaigns.devices.host_software import State
from campaigns.management.base_command import BaseCommand, ExitCode
from campaigns.records.passports import examine_passports
from knowledge.lookup.migrations import ask_no_more


class Command(BaseCommand):
    help = (
        "Show what this host has, what is missing, what that costs and how to get it. "
        "With KOPT_SANDBOX=all every missing layer of the sandbox is a required one."
    )

    def run(self, **options: Any) -> None:
        ask_no_more()
        found = [*examine(), *examine_passports()]
        self.emit([asdict(one) for one in found], "\n".join(map(str, found)))
        counts = Counter(one.state for one in found)
        if counts[State.REQUIRED]:
            names = ", ".join(one.name for one in found if one.state is State.REQUIRED)
            self.fail(ExitCode.USAGE, f"required and not usable: {names}")
        self.progress(f"{counts[State.OK]} ok, {counts[State.MISSING]} missing, none required")
