"""What a command leaves in the hands of whoever called it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended. lines: what it wrote on stderr."""

    code: int
    out: str
    lines: list[str]

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]
