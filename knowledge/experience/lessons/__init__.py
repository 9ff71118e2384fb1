"""Lessons: written, proposed, approved by another person, weighed by what is measured later."""
