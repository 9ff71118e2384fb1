"""Every dishonest or faulty C++ candidate ends as its file says."""

from __future__ import annotations

import pytest

from tests.evaluator.tricks.outcome import not_believed, params


@pytest.mark.parametrize("trick", params("cheats", "cpp"))
def test_it_does_not_fall_for(service, trick, tmp_path):
    not_believed(service, trick, tmp_path)
