"""What a page loads besides itself."""

import gzip
import re
from pathlib import Path

from django.contrib.staticfiles import finders

MOST_BYTES = 60_000
HOVERED = re.compile(r"([^{}]*:hover[^{}]*){([^}]*)}")
# For a pointer that can hover, and not for fingers.
FOR_POINTERS = re.compile(r"@media \(hover: hover\) \{[^{}]*\{[^{}]*\} \}")
SHOWS = re.compile(r"(?<![-\w])(display|visibility|opacity|clip-path|height|width|left)\s*:")


def test_styles_and_scripts_of_a_page_are_small_and_our_own(client, db):
    """Both style sheets and all scripts, htmx among them, packed as a server sends them."""
    body = client.get("/login/").content.decode()
    asked = re.findall(r'<link rel="stylesheet" href="([^"]+)"', body)
    asked += re.findall(r'<script src="([^"]+)"', body)
    assert len(asked) >= 7
    assert all(path.startswith("/static/") for path in asked)
    found = [finders.find(path.removeprefix("/static/")) for path in asked]
    packed = [gzip.compress(Path(path).read_bytes(), 9) for path in found]
    assert sum(map(len, packed)) <= MOST_BYTES


def test_nothing_is_reached_by_hovering_alone():
    """UX check 24: a pointer above something changes its colours and lines, and shows nothing."""
    rules = [rule for name in ("app", "charts") for rule in HOVERED.findall(_style(name))]
    assert len(rules) > 5
    assert [rule for rule in rules if SHOWS.search(rule[1])] == []


def _style(name):
    return FOR_POINTERS.sub("", Path(finders.find(f"css/{name}.css")).read_text())
