"""Lessons: written, proposed, approved by another person, weighed by what is measured later."""

from knowledge.experience.lessons.ask import lessons_for, similar_lessons
from knowledge.experience.lessons.decide import (
    approve_lesson,
    restore,
    retract_lesson,
    return_lesson,
)
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.lessons.propose import (
    edit_lesson,
    propose_lesson,
    record_anti_pattern,
    resubmit,
)
from knowledge.experience.lessons.weigh import weigh_lessons

__all__ = [
    "NewLesson",
    "approve_lesson",
    "edit_lesson",
    "lessons_for",
    "propose_lesson",
    "record_anti_pattern",
    "restore",
    "resubmit",
    "retract_lesson",
    "return_lesson",
    "similar_lessons",
    "weigh_lessons",
]
