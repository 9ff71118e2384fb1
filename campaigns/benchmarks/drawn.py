"""What a page is in a browser: how much there is to read, and how soon it stands there.

Chromium by playwright, both of the tests; kopt itself needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"
DESK = (1280, 800)
SLOWER = 4  # times, the processor of a cheap laptop
SETTLED_MS = 600
LONGEST_MS = 180_000

# Words to read: without the code of a diff and without the axes and labels of a chart.
WORDS = """() => {
  const count = text => (text || "").split(/\\s+/).filter(Boolean).length;
  const all = selector => [...document.querySelectorAll(`main ${selector}`)];
  const seen = all(".code, svg text").filter(e => e.checkVisibility());
  return count(document.querySelector("main").innerText)
    - seen.reduce((sum, e) => sum + count(e.innerText ?? e.textContent), 0);
}"""
HEIGHT = "() => document.documentElement.scrollHeight"
OBSERVED = """
window.paint = 0; window.blocked = 0;
new PerformanceObserver(list => list.getEntries().forEach(e => { window.paint = e.startTime; }))
  .observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver(list => list.getEntries().forEach(e => {
  window.blocked += Math.max(0, e.duration - 50);
})).observe({type: "longtask", buffered: true});
"""


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """Words and height at 1280 px; largest contentful paint and blocking time, slowed down."""

    words: int
    px: int
    paint_ms: float
    blocked_ms: float


def can_draw() -> bool:
    """Whether this machine has the browser."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return False
    return Path(CHROMIUM).exists()


def draw(url: str, cookie: tuple[str, str], paths: Mapping[str, str]) -> dict[str, DrawnPage]:
    """Name → what its page is, for pages of the server at `url`, for whom the cookie lets in."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, path in paths.items():
            context = browser.new_context(viewport={"width": DESK[0], "height": DESK[1]})
            context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": url}])
            context.add_init_script(OBSERVED)
            page = context.new_page()
            tools = context.new_cdp_session(page)
            tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            page.goto(url + path, timeout=LONGEST_MS)
            page.wait_for_timeout(SETTLED_MS)
            paint, blocked = page.evaluate("[window.paint, window.blocked]")
            tools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            words, px = page.evaluate(WORDS), page.evaluate(HEIGHT)
            found[name] = DrawnPage(words, px, paint, blocked)
            context.close()
        browser.close()
    return found
