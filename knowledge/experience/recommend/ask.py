"""Ask the team's experience what to try next."""

from __future__ import annotations

from knowledge.experience.recommend.question import Question, Recommendation


def recommend(question: Question, limit: int = 5) -> Recommendation:
    """The strategies that worked in this scope, and those that did not; at most limit of each."""
    raise NotImplementedError
