"""The whole product as a user meets it: `up`, log in, start a campaign, watch it, review it, stop.

Nothing is faked: a web server, two workers and the evaluator run in processes of their own.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.architecture.source_tree import ROOT
from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

# Generous, for a loaded machine: preparing and measuring the ceilings, a campaign, an orderly end.
START_LIMIT_S, CAMPAIGN_LIMIT_S, END_LIMIT_S = 300.0, 600.0, 30.0
NOT_OURS = ("DATABASE_URL", "KOPT_BROKER_URL", "DJANGO_ALLOW_ASYNC_UNSAFE")
PARTS = ("uvicorn", "-n flow@", "-n measure@", "campaigns.evaluator.service.zygote")


class Product:
    """`manage.py up` in a terminal of its own, and what it printed."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        kept = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
        own = {"KOPT_DATA": str(folder / "data"), "KOPT_DEVICE": "cpu", "KOPT_GATE": "OFF"}
        self._said = folder / "up.log"
        with self._said.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(port)],
                cwd=ROOT,
                env=kept | own,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def greeting(self) -> str:
        """What it prints once the web server answers."""
        out, text = self._process.stdout, ""
        assert out is not None
        deadline = time.monotonic() + START_LIMIT_S
        while "Ctrl-C" not in text and (left := deadline - time.monotonic()) > 0:
            if select.select([out], [], [], left)[0]:
                data = os.read(out.fileno(), 4096)
                assert data, self.said()
                text += data.decode()
        return text

    def said(self) -> str:
        return self._said.read_text()

    def family(self) -> dict[int, str]:
        """Every process below `up` now: its number and its command."""
        parents, commands = {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (found := _look(entry)):
                parents[int(entry.name)], commands[int(entry.name)] = found
        below, size = {self._process.pid}, 0
        while size < len(below):
            size = len(below)
            below |= {pid for pid, parent in parents.items() if parent in below}
        return {pid: commands[pid] for pid in below - {self._process.pid}}

    def interrupt(self) -> int:
        """Press Ctrl-C; its exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(END_LIMIT_S)

    def close(self) -> None:
        """Leave nothing running, also after a failed test."""
        for pid in [self._process.pid, *self.family()] if self._process.poll() is None else ():
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _look(entry: Path) -> tuple[int, str] | None:
    """(parent, command) of a process; None once it has ended."""
    try:
        state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else (int(parent), command)


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    started = Product(tmp_path)
    yield started
    started.close()


def test_it_runs_a_campaign_live_from_the_form_to_the_report(
    product: Product, visit: Callable[[str], Visit], tmp_path: Path
) -> None:
    """Log in with what `up` printed, choose in a form that says the command and keeps the focus,
    watch two rounds and the end come without a reload, open the diff of the best, take the report
    along, and press Ctrl-C, after which nothing runs on.
    """
    found = re.search(r"at (\S+)\nuser (\S+), password (\S+) ", product.greeting())
    assert found, product.said()
    address, user, password = found.groups()
    page = visit(address).page
    log_in(page, address, user, password)
    start_campaign(page, address)
    watch_to_the_end(page)
    review_the_best_round(page)
    file = download_the_report(page, tmp_path)
    assert "Matrix product" in file.read_text()

    family = product.family()
    assert [part for part in PARTS if not any(part in run for run in family.values())] == []
    assert product.interrupt() == 0, product.said()
    assert {pid: run for pid, run in family.items() if _look(Path(f"/proc/{pid}"))} == {}
    assert "Traceback" not in product.said()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(address.rstrip("/").rpartition(":")[2])), 5)


def log_in(page: Page, address: str, user: str, password: str) -> None:
    # A server that has just started imports the pages with its first answer.
    page.goto(address, timeout=START_LIMIT_S * 1000)
    page.fill("#id_username", user)
    page.fill("#id_password", password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(address)


def start_campaign(page: Page, address: str) -> None:
    """Each choice is sent and comes back in the command line that does the same."""
    # Without torch beside the best, which takes minutes more.
    page.goto(f"{address}c/new?no_baselines=1")
    command = page.locator("#new-command")
    # Its first idea is some three times faster, which a busy host shows too.
    page.focus("#new-problem")
    page.select_option("#new-problem", "matmul")
    command.get_by_text("--problem matmul").wait_for()
    assert page.evaluate("document.activeElement.id") == "new-problem"
    assert "problem=matmul" in page.url
    page.check("#backend-cpp")
    command.get_by_text("--backend cpp").wait_for()
    page.fill("#new-rounds", "2")
    page.press("#new-rounds", "Tab")
    command.get_by_text("--rounds 2").wait_for()
    page.click("#create")
    page.wait_for_url(re.compile(r"/c/\d+/$"))


def watch_to_the_end(page: Page) -> None:
    """The first page that was loaded shows rounds and end; nothing is loaded anew."""
    page.evaluate("window.first = true")
    expect(page.locator("#strip [data-state=done]")).to_have_count(0)
    limit_ms = CAMPAIGN_LIMIT_S * 1000
    page.locator("#row-1").wait_for(timeout=limit_ms)
    page.locator("#row-2[href]").wait_for(timeout=limit_ms)
    page.locator("#strip [data-state=done]").wait_for(timeout=limit_ms)
    page.locator("tr[data-verdict=accepted] #row-2").wait_for()
    assert page.evaluate("window.first") is True
    expect(page.locator("#do-stop")).to_have_count(0)
    # A host that was busy while its ceilings were measured is soon at its roofline.
    expect(page.locator("#strip")).to_contain_text(re.compile("All 2 rounds are done|Target met"))


def review_the_best_round(page: Page) -> None:
    page.click("#strip-best")
    page.locator("#result[data-round='2'][data-verdict=accepted]").wait_for()
    page.get_by_role("link", name="Whole diff").click()
    page.wait_for_url("**/r/2/diff**")
    expect(page.locator("tr.add .text").first).to_be_visible()
    expect(page.locator("tr.del .text").first).to_be_visible()


def download_the_report(page: Page, folder: Path) -> Path:
    page.locator(".crumbs").get_by_role("link", name="Matrix product").click()
    page.click("#to-report")
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename.endswith(".html")
    file = folder / "report.html"
    download.value.save_as(file)
    return file
