"""A round's drafted sources, as its row keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from campaigns.evaluator.contract import Source
from campaigns.models import Submission
from campaigns.proposers.base import Draft, Hypothesis, Variant


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


def draft_of(submission: Submission) -> Draft:
    """The round of a candidate that was handed in."""
    hypothesis = msgspec.convert(submission.hypothesis, Hypothesis)
    return Draft(hypothesis, (Variant(f"handed in by {submission.name}", submission.source),))
