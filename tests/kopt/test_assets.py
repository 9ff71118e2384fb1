"""What a page loads besides itself."""

import gzip
import re
from pathlib import Path

from django.contrib.staticfiles import finders

MOST_BYTES = 60_000


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
