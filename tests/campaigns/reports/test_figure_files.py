"""A figure as a file, and what its numbers are read from."""

from campaigns.evaluator.contract import Timer, Timing
from campaigns.evaluator.contract.timing import OwnKernel, Traced
from campaigns.reports.figures import facts
from campaigns.reports.figures.files import THEMES, style


def timing(**more):
    return Timing((12.0, 12.4), 512, 64, Timer.GRAPH, **more)


def test_every_rule_is_plain_and_has_the_colours_of_one_theme():
    for theme in THEMES:
        rules = style(theme)
        assert "#0a63c4" in rules or theme == "dark"
        assert not [word for word in ("var(", "light-dark", ":is(", "@", "/*") if word in rules]
    assert style("light") != style("dark")


def test_kernel_time_is_told_by_kernel_where_a_tracer_tells_it():
    own = OwnKernel("rows", 1, 7.5), OwnKernel("tail", 2, 1.5), OwnKernel("never", 0, 0.0)
    found = facts._parts(timing(device_us=11.0, traced=Traced(own, 2.0, 0.5)))
    assert found == {"rows": 7.5, "tail": 1.5, "other kernels": 1.5, "memory fills": 0.5}
    assert facts._parts(timing(device_us=11.0)) == {"all kernels": 11.0}
    assert facts._parts(timing()) == {}
