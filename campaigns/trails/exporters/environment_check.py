"""env_check.md: what a host has and lacks, in the sections of kernel-opt-skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from campaigns.devices.host_software import HealthFinding, State
from campaigns.trails.exporters.markdown import facts, page, table

HEAD = ("check", "state", "found", "costs", "how to get it")
NOTHING_CHECKED = "Nothing was checked."


def environment_page(
    sections: Mapping[str, Sequence[HealthFinding]], about: Mapping[str, str]
) -> str:
    """The page. sections: name → its checks. about: what else its status says, such as the host."""
    found = list(chain.from_iterable(sections.values()))
    required = [one.name for one in found if one.state is State.REQUIRED]
    missing = [one.name for one in found if one.state is State.MISSING]
    status = {
        "Status": "ready" if not required else "not ready",
        "Required and not usable": ", ".join(required) or "nothing",
        "Missing": ", ".join(missing) or "nothing",
        **about,
    }
    parts = [["## Status"], facts(status.items())]
    for name, rows in sections.items():
        parts += [[f"## {name}"], table(HEAD, map(_cells, rows), NOTHING_CHECKED)]
    return page("# Environment", *parts)


def _cells(one: HealthFinding) -> tuple[str, ...]:
    if one.state in (State.OK, State.NOTE):
        return (one.name, one.state, one.found, "", "")
    return (one.name, one.state, one.found, one.costs, one.remedy)
