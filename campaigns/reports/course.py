"""What a campaign did about rounds without a gain, for page, command and trail (R40, R48)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from campaigns.models import Campaign, CampaignState, Restart, Review
from campaigns.records.stop_history import masked_by, restart_of
from campaigns.records.values import picked
from campaigns.rules.stop.ladder import Way

# The events that record it.
KINDS = ("ladder", "reviewed", "restart", "unmasked")


@dataclass(frozen=True, slots=True)
class Course:
    """reviews: newest first. restart: its answer; None before one. masked: rounds still hidden."""

    reviews: tuple[Review, ...]
    restart: Restart | None
    masked: tuple[int, ...]
    is_offered: bool

    def __bool__(self) -> bool:
        return bool(self.reviews or self.restart or self.is_offered)

    @property
    def unmasked(self) -> tuple[int, ...]:
        """Rounds that the restart hid and a person shows again."""
        hidden = self.restart.masked if self.restart else []
        return tuple(number for number in hidden if number not in self.masked)


def course_of(campaign: Campaign) -> Course:
    """Two queries, one more where rounds are masked."""
    restart = restart_of(campaign)
    return Course(
        tuple(Review.objects.filter(campaign=campaign).order_by("-pk")),
        restart,
        tuple(sorted(masked_by(restart))),
        campaign.state == CampaignState.RESTART,
    )


def course_facts(campaign: Campaign) -> dict[str, Any]:
    """The same as data."""
    course = course_of(campaign)
    restart = course.restart
    return {
        "reviews": [
            picked(one, "after streak failures directions note") for one in course.reviews[::-1]
        ],
        "restart": picked(restart, "after answer why seed masked") if restart else None,
        "masked": list(course.masked),
    }


def course_lines(campaign: Campaign) -> list[str]:
    """The same for a terminal."""
    course = course_of(campaign)
    lines = []
    for review in course.reviews[::-1]:
        found = "; ".join(Way(**way).named for way in review.directions) or review.note
        lines.append(f"review after round {review.after}: {found}")
    if row := course.restart:
        hidden = f"masked rounds: {', '.join(map(str, course.masked)) or 'none'}"
        lines.append(f"restart after round {row.after}: {row.answer} {row.why}; {hidden}")
    if course.is_offered:
        lines.append(f"a restart is offered: `campaign restart {campaign.pk}` takes it")
    return lines
