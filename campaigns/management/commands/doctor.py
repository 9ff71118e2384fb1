"""`doctor`: what this host has, what is missing, what that costs and how to get it."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.utils import timezone

from campaigns.devices.environment import kopt_version
from campaigns.devices.host_health import HealthSection, examine
from campaigns.devices.host_software import State
from campaigns.management.base_command import Argument, BaseCommand, ExitCode, argument
from campaigns.records.passports import examine_passports
from campaigns.trails.exporters.environment_check import environment_page
from knowledge.lookup.database import ask_no_more


class Command(BaseCommand):
    help = (
        "Show what this host has, what is missing, what that costs and how to get it. "
        "Exit 1 where something required is missing. "
        "With KOPT_SANDBOX=all every missing layer of the sandbox is a required one."
    )

    def arguments(self) -> tuple[Argument, ...]:
        return (argument("--markdown", type=Path, metavar="FILE", help="write it as env_check.md"),)

    def run(self, **options: Any) -> None:
        ask_no_more()
        markdown, sections = options["markdown"], examine()
        # How much a number scatters here belongs to how steady the clocks are.
        sections[HealthSection.CLOCKS] = [*sections[HealthSection.CLOCKS], *examine_passports()]
        found = [one for rows in sections.values() for one in rows]
        data = [{"section": s.value, **asdict(one)} for s, rows in sections.items() for one in rows]
        if markdown is None:
            self.emit(data, "\n".join(map(str, found)))
        else:
            checked = timezone.now().isoformat(timespec="seconds")
            about = {
                "Device": sections[HealthSection.GPU][0].found,
                "Host": platform.node(),
                "Checked": checked,
                "kopt": kopt_version(),
            }
            page = environment_page({s.value: rows for s, rows in sections.items()}, about)
            self.write(markdown, page.encode(), {"findings": data})
        counts = Counter(one.state for one in found)
        if counts[State.REQUIRED]:
            names = ", ".join(one.name for one in found if one.state is State.REQUIRED)
            self.fail(ExitCode.USAGE, f"required and not usable: {names}")
        self.progress(f"{counts[State.OK]} ok, {counts[State.MISSING]} missing, none required")
