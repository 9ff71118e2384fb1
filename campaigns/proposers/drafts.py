"""A round's drafted sources, as its row keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Variant


def stored_draft(variants: Iterable[Variant]) -> list[dict[str, Any]]:
    """A round's draft as its row keeps it."""
    return [
        {
            "label": variant.label,
            "name": variant.source.name,
            "text": variant.source.text,
            "flags": list(variant.source.flags),
            "params": dict(variant.params),
        }
        for variant in variants
    ]


def drafted_in(stored: Iterable[dict[str, Any]]) -> list[Variant]:
    """The sources of a stored draft."""
    return [
        Variant(
            one["label"],
            Source(one["name"], one["text"], tuple(one["flags"])),
            one["params"],
        )
        for one in stored
    ]
