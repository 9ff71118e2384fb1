"""What lessons say of a round, from its records alone."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from campaigns.models import Round
from knowledge.experience.lessons.new import LONGEST, NewLesson
from knowledge.models import Experience

MOST_SHAPES = 4


def seen_in(round_: Round) -> str:
    """Which round of what, and what it tried."""
    campaign, problem = round_.campaign, round_.campaign.problem
    place = f"{problem.op} ({problem.dtype}) in {campaign.backend} on {campaign.platform.name}"
    return f"{place}; campaign {campaign.pk}, round {round_.number}: {round_.title}"


def shown_for(entry: Experience) -> str:
    """The shapes and versions that it was measured with."""
    listed = [", ".join(f"{k}={v}" for k, v in shape.items()) for shape in entry.shapes]
    more = f" and {len(listed) - MOST_SHAPES} more" if len(listed) > MOST_SHAPES else ""
    shapes = f"{'; '.join(listed[:MOST_SHAPES])}{more}" if listed else "the cases of its problem"
    made = " and ".join(filter(None, (entry.compiler, entry.driver and f"driver {entry.driver}")))
    return f"{shapes}{f', with {made}' if made else ''}"


def clipped(new: NewLesson) -> NewLesson:
    """The same with each text as long as a lesson's may be."""
    texts = {
        name: textwrap.shorten(getattr(new, name), most, placeholder=" …")
        for name, most in LONGEST.items()
    }
    return replace(new, **texts)  # type: ignore[arg-type]  # texts alone
