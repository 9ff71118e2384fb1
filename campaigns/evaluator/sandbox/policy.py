"""What this host's sandbox has to be, and what it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Self

from campaigns.evaluator.sandbox import probe
from campaigns.evaluator.sandbox.layers import Plan


@dataclass(slots=True)
class Policy:
    """require_all: refuse all work when a layer is missing. memory_bytes: of one runner; 0: half.

    Crosses to the service as one line of JSON.
    """

    require_all: bool = False
    memory_bytes: int = 0
    _plans: dict[str, Plan] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Self:
        return cls(**json.loads(text))

    def line(self) -> str:
        return json.dumps({"require_all": self.require_all, "memory_bytes": self.memory_bytes})

    def examine(self) -> None:
        """Try the layers of every kind of device. Only in a process with one thread."""
        for kind in probe.KINDS:
            self._plans[kind] = probe.plan_for(kind, self.memory_bytes)

    def plan(self, device: str) -> Plan:
        return self._plans["cuda" if device.startswith("cuda") else "cpu"]

    def refusal(self, device: str) -> str:
        """Why nothing may run on `device`; "" when it may."""
        missing = self.plan(device).missing
        if not self.require_all or not missing:
            return ""
        return (
            f"KOPT_SANDBOX=all: this host lacks {', '.join(missing)}; "
            "`manage.py doctor` says how to get them"
        )
