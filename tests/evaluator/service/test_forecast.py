"""What is said beforehand of an evaluation that will take minutes."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Protocol
from campaigns.evaluator.service.notices import forecast_s, forecast_words

PROTOCOL = Protocol(blocks=5)


def test_it_grows_with_cases_arms_and_bursts():
    checked = forecast_s([(0.1, 16)], 1, None)
    assert checked == pytest.approx(12.0)
    assert forecast_s([(0.1, 16)] * 2, 2, None) == pytest.approx(4 * checked)
    timed = forecast_s([(0.1, 16)], 2, PROTOCOL)
    assert timed == pytest.approx(2 * (checked + 18 * 20 * 0.1 * 3))
    assert forecast_s([(0.1, 64)], 2, PROTOCOL) > timed


def test_it_says_how_to_make_it_faster():
    assert forecast_words(59.0, 0.1, "setup") == ""
    words = forecast_words(180.0, 0.1, "setup")
    assert words.startswith("about 3 min in all, as inputs and reference take 0.1 s for each call")
    assert 'refresh = "shift" in problem.toml' in words
    assert "refresh" not in forecast_words(180.0, 0.1, "shift")
    assert "smaller cases, or fewer of them by --case" in words
