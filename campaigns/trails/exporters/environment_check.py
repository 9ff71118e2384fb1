"""env_check.md: what a host has and lacks, in the sections of kernel-opt-skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from campaigns.devices.host_software import HealthFinding, State
from campaigns.trails.exporters.text_templates import text_of


def environment_page(
    sections: Mapping[str, Sequence[HealthFinding]], about: Mapping[str, str]
) -> str:
    """The page. sections: name → its checks. about: what else its status says, such as the host."""
    required, missing = (
        ", ".join(one.name for rows in sections.values() for one in rows if one.state is state)
        for state in (State.REQUIRED, State.MISSING)
    )
    status = {
        "Status": "not ready" if required else "ready",
        "Required and not usable": required or "nothing",
        "Missing": missing or "nothing",
        **about,
    }
    return text_of(
        "environment_check.md", status=status, sections=sections, fine=(State.OK, State.NOTE)
    )
