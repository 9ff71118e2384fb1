"""Is the experience of years still searched and weighed at once? Made-up attempts, timed questions.

The attempts are invented and go nowhere: the database is created for the measurement and dropped
after it. The strategies and platforms are those of the shipped wiki.
"""

from campaigns.benchmarks.experience.measure import EXPERIENCE

__all__ = ["EXPERIENCE"]
