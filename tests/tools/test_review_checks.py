"""docs/review.md names tests that exist, or says why there is none."""

import re

from django.conf import settings

CHECKS = 30
TEXT = (settings.BASE_DIR / "docs" / "review.md").read_text()


def test_each_check_is_held_by_tests_that_exist_or_argued_away():
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", TEXT, re.MULTILINE)
    assert [int(number) for number, _ in rows] == [*range(1, CHECKS + 1)]
    for number, held in rows:
        assert "::test_" in held or held.strip().endswith("."), number
    for path, name in re.findall(r"`(?:tests/)?([\w/]+\.py)::(\w+)`", TEXT):
        assert f"def {name}(" in (settings.BASE_DIR / "tests" / path).read_text(), (path, name)
