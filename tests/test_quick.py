"""The rule of quick tests, and products of which a diagonal is quick."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests import quick
from tests.products import chosen, thinned


def item(**marks: dict[str, Any]) -> Any:
    made = {name: SimpleNamespace(kwargs=kwargs) for name, kwargs in marks.items()}
    return SimpleNamespace(get_closest_marker=made.get)


def used(seconds: float, *, imports: int = 0, **marks: dict[str, Any]) -> None:
    """Let a test have used so much. The rule holds this test too, so its clock is put right."""
    rule = quick.QuickRule.of(item(**marks))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "process_time", lambda: rule.began_s + seconds)
        patch.setattr(quick, "sys", SimpleNamespace(modules=range(rule.modules + imports)))
        rule.check()


@pytest.fixture(autouse=True)
def _as_fast_as_the_host_of_the_limit(monkeypatch):
    monkeypatch.setattr(quick, "slowness", lambda: 1.0)


def test_a_slow_host_is_given_longer(monkeypatch):
    monkeypatch.setattr(quick, "slowness", lambda: 3.0)
    used(29.9)
    with pytest.raises(pytest.fail.Exception):
        used(30.1)


def test_it_fails_a_test_that_takes_long_and_says_what_to_do():
    with pytest.raises(pytest.fail.Exception, match=r"used 10\.1 s .* @pytest\.mark\.long"):
        used(10.1)
    used(9.9)


@pytest.mark.parametrize(
    "marks",
    [{name: {}} for name in quick.FREE] + [{"django_db": {"transaction": True}}],
    ids=lambda marks: next(iter(marks)),
)
def test_it_holds_no_test_that_waits_or_is_long(marks):
    used(99.0, **marks)


def test_it_holds_none_where_more_examples_are_drawn(monkeypatch):
    drawing = SimpleNamespace(default=SimpleNamespace(derandomize=False))
    monkeypatch.setattr(quick, "settings", drawing)
    used(99.0)


def test_it_holds_a_test_of_the_database():
    with pytest.raises(pytest.fail.Exception):
        used(99.0, django_db={}, storage={})


def test_what_is_imported_first_is_not_the_tests_own():
    used(11.0, imports=40)


def test_the_hook_of_the_suite_asks_the_rule(monkeypatch, request):
    from tests import conftest

    (plugin,) = (
        found
        for found in request.config.pluginmanager.get_plugins()
        if getattr(found, "__file__", None) == conftest.__file__
    )
    asked: list[str] = []
    rule = SimpleNamespace(of=lambda of: SimpleNamespace(check=lambda: asked.append(of)))
    monkeypatch.setattr(plugin, "QuickRule", rule)
    hook = plugin.pytest_runtest_call("a test")
    next(hook)
    assert asked == []
    with pytest.raises(StopIteration):
        hook.send(None)
    assert asked == ["a test"]


def test_a_diagonal_of_a_product_is_quick_and_leaves_no_value_out():
    params = thinned(range(5), range(7), one_in=5)
    assert len(params) == 35
    kept = [each.values for each in params if not each.marks]
    assert len(kept) == 7
    assert {one for one, _ in kept} == {*range(5)}
    assert {two for _, two in kept} == {*range(7)}


def test_values_that_are_not_chosen_are_long():
    assert [bool(each.marks) for each in chosen("abc", "b")] == [True, False, True]
    with pytest.raises(AssertionError):
        chosen("abc", "d")
