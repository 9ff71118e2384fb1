"""Pictures of the main pages for docs/screens, with the words at 375 px and the heights of each.

Not a test of its own: `make screens` runs it, and `pytest` does not collect it.
"""

from __future__ import annotations

import os
import struct
import zlib
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page

from campaigns.benchmarks.drawn import HEIGHT, WORDS
from campaigns.steps.lifecycle.load_sample import load_sample
from knowledge.models import Spec
from tests.browser.conftest import PHONE
from tests.campaigns.sample import PLATFORM, build_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOLDER = Path(os.environ.get("SCREENS", settings.BASE_DIR / "docs" / "screens"))
PAGES = {
    "home": "/",
    "review": "/review/",
    "campaigns": "/c/",
    "team": "/team/",
    "jobs": "/jobs/",
    "me": "/me/",
    "campaign": "/c/{own}/",
    "running": "/c/{live}/",
    "target": "/c/{own}/target/",
    "activity": "/c/{own}/activity/",
    "figures": "/c/{own}/figures/",
    "rounds": "/c/{own}/rounds/",
    "round": "/c/{own}/r/2/",
    "cases": "/c/{own}/r/2/cases/",
    "profile": "/c/{sample}/r/4/profile/?against=2",
    "code": "/c/{sample}/r/4/code/",
    "reject": "/c/{own}/r/8/",
    "sweep": "/c/{own}/r/3/",
    "compare": "/c/{own}/compare/2..6",
    "report": "/c/{own}/report/",
    "problem": "/p/softmax/",
    "wiki": "/w/",
    "platform": "/w/p/h200-sxm/",
    "value": "/w/s/{value}/",
    "search": "/search/?q=bandwidth+h200",
}
WIDE = {"width": 1280, "height": 800}
# Below, pictures are cut off; the page says how high it is.
MOST_PX = 1800
MOST_BYTES = 6 << 20
FACTS = "[docs/review.md](../review.md) says which facts decide a round, on its first screen.\n"


# A picture in its 256 most frequent colours, as numbers of a palette: a third of the bytes.
PALETTE = """async text => {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const {width, height} = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const {data} = canvas.getImageData(0, 0, width, height);
  const keys = Uint32Array.from({length: width * height}, (_, i) =>
    data[4 * i] << 16 | data[4 * i + 1] << 8 | data[4 * i + 2]);
  const count = new Map();
  for (const key of keys) count.set(key, (count.get(key) || 0) + 1);
  const colours = [...count.keys()].sort((a, b) => count.get(b) - count.get(a));
  const palette = colours.splice(0, 256), parts = key => [key >> 16, key >> 8 & 255, key & 255];
  const place = new Map(palette.map((key, i) => [key, i]));
  for (const key of colours) {
    const far = palette.map(known => parts(known).reduce(
      (sum, part, n) => sum + (part - parts(key)[n]) ** 2, 0));
    place.set(key, far.indexOf(Math.min(...far)));
  }
  let all = "";
  for (const key of keys) all += String.fromCharCode(place.get(key));
  return [width, height, palette, btoa(all)];
}"""


def _small(page: Page) -> bytes:
    """A picture of the window as a PNG with a palette."""
    text = b64encode(page.screenshot()).decode()
    width, height, colours, pixels = page.evaluate(PALETTE, text)
    raw = b64decode(pixels)
    lines = b"".join(b"\0" + raw[at : at + width] for at in range(0, len(raw), width))
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": b"".join(colour.to_bytes(3, "big") for colour in colours),
        b"IDAT": zlib.compress(lines, 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )


def test_gallery(enter, finished):
    """Write `<page>-<1280|375>-<light|dark>.png` and a README.md into the folder."""
    live = build_sample(rounds=3, running=True)
    values = Spec.objects.approved().filter(platform__slug=PLATFORM)
    value = values.filter(metric="memory_bandwidth").order_by("pk").first()
    seen = enter()
    shipped = load_sample(finished.created_by)
    page, rows = seen.page, []
    only = os.environ.get("PAGES", "").split()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, path in PAGES.items():
        if only and name not in only:
            continue
        heights = []
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            seen.open(path.format(own=finished.pk, live=live.pk, sample=shipped.pk, value=value.pk))
            words, height = page.evaluate(WORDS), page.evaluate(HEIGHT)
            heights.append(height)
            page.set_viewport_size({**size, "height": min(height, MOST_PX)})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                (FOLDER / f"{name}-{size['width']}-{scheme}.png").write_bytes(_small(page))
        rows.append((name, words, *heights))
    assert sum(file.stat().st_size for file in FOLDER.glob("*.png")) <= MOST_BYTES
    if not only:
        (FOLDER / "README.md").write_text(_readme(rows))


def _readme(rows: list[tuple[str, int, int, int]]) -> str:
    """A line a page, both widths side by side; the dark ones behind links."""
    lines = [
        "# Screens",
        "",
        "The main pages with the sample campaign, written by `make screens`.",
        "",
    ]
    lines += [FACTS, "| page | words | px at 1280, 375 | 1280 | 375 |", "|---|--:|--:|---|---|"]
    for name, words, wide, narrow in rows:
        shown = [
            f'<img src="{name}-{at}-light.png" width="{to}" alt="{name} at {at} px">'
            for at, to in ((1280, 480), (375, 150))
        ]
        dark = ", ".join(f"[{at}]({name}-{at}-dark.png)" for at in (1280, 375))
        lines.append(
            f"| {name}; dark: {dark} | {words:,} | {wide:,}, {narrow:,} | {shown[0]} | {shown[1]} |"
        )
    return "\n".join(lines) + "\n"
