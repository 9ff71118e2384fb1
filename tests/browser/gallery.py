"""Pictures of the main pages for docs/screens, with the words and the height of each.

Not a test of its own: `make screens` runs it, and `pytest` does not collect it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.browser.conftest import DESK, PHONE
from tests.campaigns.sample import build_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOLDER = Path(os.environ.get("SCREENS", settings.BASE_DIR / "docs" / "screens"))
PAGES = {
    "home": "/",
    "review": "/review/",
    "campaigns": "/c/",
    "campaign": "/c/{own}/",
    "running": "/c/{live}/",
    "target": "/c/{own}/target/",
    "activity": "/c/{own}/activity/",
    "rounds": "/c/{own}/rounds/",
    "round": "/c/{own}/r/2/",
    "cases": "/c/{own}/r/2/cases/",
    "reject": "/c/{own}/r/8/",
    "sweep": "/c/{own}/r/3/",
    "compare": "/c/{own}/compare/2..6",
    "report": "/c/{own}/report/",
    "problem": "/p/softmax/",
    "wiki": "/w/",
    "platform": "/w/p/h200-sxm/",
    "search": "/search/?q=bandwidth+h200",
}
WORDS = "() => document.querySelector('main').innerText.split(/\\s+/).filter(Boolean).length"
HEIGHT = "() => document.documentElement.scrollHeight"


def test_gallery(enter, finished):
    """Write `<page>-<1280|375>-<light|dark>.png` and `pages.json` into the folder."""
    live = build_sample(rounds=3, running=True)
    seen = enter()
    page, found = seen.page, {}
    only = os.environ.get("PAGES", "").split()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, path in PAGES.items():
        if only and name not in only:
            continue
        row = {}
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            seen.open(path.format(own=finished.pk, live=live.pk))
            row["words"] = page.evaluate(WORDS)
            row[f"px_{size['width']}"] = page.evaluate(HEIGHT)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                name_of = f"{name}-{size['width']}-{scheme}.png"
                page.screenshot(path=FOLDER / name_of, full_page=True)
        found[name] = row
    (FOLDER / "pages.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
