"""The flow on fakes, as the tests of the steps have it."""

from tests.campaigns.steps.conftest import bench, judge, known_target, script

__all__ = ["bench", "judge", "known_target", "script"]
