"""Say which layers this host has, as JSON: `python -m campaigns.evaluator.sandbox cpu cuda`."""

from __future__ import annotations

import json
import sys

from campaigns.evaluator.sandbox import limits, probe


def main(kinds: list[str]) -> int:
    found = {}
    for kind in kinds:
        plan = probe.plan_for(kind)
        groups = limits.make_groups(plan.memory_bytes)
        groups.remove()
        found[kind] = {
            "root": plan.root,
            "holds": plan.holds,
            "lacks": plan.lacks,
            "no_watching": plan.no_watching,
            "memory_mib": plan.memory_bytes >> 20,
            "memory_by": "control group" if groups.memory else "watch",
        }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
