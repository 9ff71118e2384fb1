"""Which system wrote a trail: by the files that only it writes, never by a guess between two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from campaigns.trails.exporters.kopt import NAME
from campaigns.trails.importers import atrex, kernel_opt, kernel_opt_skill, kernel_optimize, kopt
from campaigns.trails.importers.claims import ClaimedCampaign, System, TrailRefused

READERS: Mapping[System, Callable[[Mapping[str, str]], ClaimedCampaign]] = {
    System.KOPT: kopt.read,
    System.ATREX: atrex.read,
    System.SKILL: kernel_opt_skill.read,
    System.OPTIMIZE: kernel_optimize.read,
    System.KERNEL_OPT: kernel_opt.read,
}
SIGNS: Mapping[System, tuple[str, re.Pattern[str]]] = {
    System.KOPT: (NAME, re.compile(re.escape(NAME))),
    System.ATREX: ("memory/v<N>.json", re.compile(r"memory/[^/]+\.json")),
    System.SKILL: (
        "v<n>/correctness.md, ncu_summary.md or hypothesis.txt, or experiences.json",
        re.compile(
            r"v\d+/(correctness\.md|ncu_summary\.md|hypothesis\.txt)|(.+/)?experiences\.json"
        ),
    ),
    System.OPTIMIZE: ("manifest.yaml", re.compile(r"manifest\.ya?ml")),
    System.KERNEL_OPT: ("performance.md", re.compile(r"performance\.md")),
}
MOST_ROUNDS = 2000


def claimed_in(files: Mapping[str, str], system: System | None = None) -> ClaimedCampaign:
    """What these files say. system: whose they are, where they could be of several.

    Raises TrailRefused.
    """
    found = READERS[system or system_of(files)](files)
    if not found.rounds:
        raise TrailRefused(f"no round in a trail of {found.system}; accepted: at least one")
    if len(found.rounds) > MOST_ROUNDS:
        raise TrailRefused(f"{len(found.rounds)} rounds; accepted: at most {MOST_ROUNDS}")
    return found


def system_of(files: Mapping[str, str]) -> System:
    """Whose files these are. Raises TrailRefused where none or several could have written them."""
    signs = [s for s in System if any(SIGNS[s][1].fullmatch(name) for name in files)]
    if System.KOPT in signs:
        return System.KOPT
    if len(signs) == 1:
        return signs[0]
    if signs:
        said = ", ".join(f"{system} ({SIGNS[system][0]})" for system in signs)
        raise TrailRefused(f"files of {said}; accepted: of one, or its name as source")
    known = "; ".join(f"{SIGNS[system][0]} of {system}" for system in System)
    raise TrailRefused(f"no file that tells who wrote this trail; accepted: {known}")
