"""A small landscape in which everything occurs that can."""

from campaigns.benchmarks.landscapes.landscape import (
    Landscape,
    LandscapeHeader,
    LandscapeRow,
    RecordedKnob,
)
from campaigns.strategies.base import SearchTrial, TrialFailure

KNOBS = (
    RecordedKnob("TILE", (16, 32, 64)),
    RecordedKnob("SCALE", (0.5, 2.0)),
    RecordedKnob("FLAGS", ("-O2", "-O3 -march=native")),
    RecordedKnob("FAST", (False, True)),
)
HEADER = LandscapeHeader(
    kernel="softmax",
    knobs=KNOBS,
    op="softmax",
    backend="cpp",
    device="a processor",
    versions={"g++": "12.2"},
    cases=("512x1024",),
    made="by hand",
)


def timed(time_us, *values, **facts):
    return LandscapeRow(values, SearchTrial(time_us=time_us), facts)


def failed(failure, *values):
    return LandscapeRow(values, SearchTrial(failure=failure))


def sample_landscape():
    rows = [
        timed(10.25, 16, 0.5, "-O2", False, registers=32.0, spills=0.0),
        timed(8.0, 32, 0.5, "-O2", True, registers=64.0),
        timed(7.5, 32, 2.0, "-O3 -march=native", True),
        failed(TrialFailure.BUILD_FAILED, 64, 0.5, "-O2", False),
        failed(TrialFailure.WRONG, 64, 2.0, "-O2", False),
        failed(TrialFailure.CRASHED, 64, 2.0, "-O2", True),
        failed(TrialFailure.TIMED_OUT, 64, 2.0, "-O3 -march=native", True),
        failed(TrialFailure.PRUNED, 64, 0.5, "-O3 -march=native", True),
    ]
    return Landscape.of(HEADER, rows)
