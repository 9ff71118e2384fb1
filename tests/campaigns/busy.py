"""A campaign on a busy host: each session has a pace of its own, which both of its arms share."""

from unittest.mock import patch

from campaigns.records.noise import NoiseFloor
from tests.campaigns import sample


class Busy(sample.Bench):
    """The host is slower in some rounds: pairs are what they were, and medians are others."""

    def _report(self, evaluation):
        self.factor = {1: 1.0, 2: 0.9, 3: 1.4, 6: 0.85}.get(evaluation.candidate.round.number, 1.2)
        if evaluation.kind == "report":
            self.factor = 1.9
        return super()._report(evaluation)

    def _timing(self, time_us, drift, device_us):
        return super()._timing(self.factor * time_us, drift, self.factor * device_us)


def _floor(campaign, evaluation, report=None):
    """Another one in each round, as passports give where kernels become shorter."""
    number = evaluation.candidate.round.number
    return NoiseFloor(0.011 + 0.001 * number, f"noise passport 1, round {number}")


def build_busy(rounds, bench=Busy, *, running=False):
    """Its key. running: one more round is open, so that there is no final session yet."""
    with (
        patch("tests.campaigns.sample.Bench", bench),
        patch("campaigns.records.judged_rounds.floor_for", _floor),
    ):
        return sample._build(rounds, None, running=running)
