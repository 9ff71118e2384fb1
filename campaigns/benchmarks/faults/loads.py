"""Faults that are too much of something: logins, files of a wiki, bytes of a harness."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from django.core.files.uploadedfile import SimpleUploadedFile

from campaigns.benchmarks.clients import HARNESS_TABLE, make_repository
from campaigns.benchmarks.faults.servers import Servers
from campaigns.benchmarks.faults.traffic import Visitor
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.problems.shipped import problem_folder

LOGINS, LOGIN_S = 150, 65.0
WIKI_FILES, IMPORT_S = 2000, 240.0
HARNESS_MIB, HARNESS_S = 6 << 10, 120.0
# What a runner may write, with some room for what else happens on that disk.
MOST_MIB = 1200
HARNESS = f'name = "greedy"\nbenchmark = "python3 fill.py"\nlimit_s = 60\n{HARNESS_TABLE}'
FILL = f"""block = bytes(1 << 20)
for number in range({HARNESS_MIB}):
    with open(f"{{number // 64}}.bin", "ab") as file:
        file.write(block)
"""
TRIED = "SELECT reason, sentence FROM campaigns_repositoryround WHERE state = 'done'"
WISH = ("--problem", "softmax", "--case", "255x2051", "--backend", "cpp", "--no-baselines")
# Twice the work of v0, so that every campaign takes the same course, whatever the last one learned.
SLOWER = ("y[j] /= total;", "y[j] = expf(x[j] - peak) / total;")
HYPOTHESIS = ("--title", "Exponentials twice", "--rationale", "none")
EXPECTED = ("--metric", "time per call", "--direction", "up", "--amount", "30%")
CANDIDATES = 2
AWAITS_S = 120.0


def begin_campaign(servers: Servers) -> int:
    """A campaign without a candidate; its number."""
    rounds = ("--rounds", str(CANDIDATES + 1), "--proposers", "person")
    made = servers.manage("campaign", "new", *WISH, *rounds, "--json")
    return int(json.loads(made)["campaign"])


def new_campaign(servers: Servers) -> int:
    """One whose baseline is measured, with all its candidates handed in; its number."""
    campaign = begin_campaign(servers)
    awaits = f"SELECT 1 FROM campaigns_campaign WHERE state = 'awaiting' AND id = {campaign}"
    if not await_rows(servers, awaits, AWAITS_S):
        raise BenchmarkError(f"campaign {campaign} had no baseline within {AWAITS_S:.0f} s")
    plain = problem_folder("softmax").joinpath("v0.cpp").read_text()

    def hand_in(number: int) -> None:
        file = servers.folder / f"{number}.cpp"
        file.write_text(f"// {number}\n{plain.replace(*SLOWER)}")
        change = ("--change", f"They are computed again, as variant {number}")
        servers.manage("round", "submit", str(campaign), str(file), *HYPOTHESIS, *change, *EXPECTED)

    with ThreadPoolExecutor(CANDIDATES) as people:
        list(people.map(hand_in, range(CANDIDATES)))
    return campaign


def await_rows(servers: Servers, sql: str, limit_s: float) -> bool:
    """Wait until there are such rows; False where there are none within the limit."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        with suppress(OSError):
            if servers.select(sql):
                return True
        time.sleep(0.2)
    return False


def log_in_at_once(servers: Servers, campaign: int, pid: int) -> str:
    with ThreadPoolExecutor(LOGINS) as people:
        asked = [people.submit(Visitor(servers.address).log_in, LOGIN_S) for _ in range(LOGINS)]
        answers = [one.result() for one in asked]
    found = Counter(answer.status for answer in answers)
    names = {0: "unanswered", 302: "logged in"}
    words = (
        f"{n} {names.get(status, f'answered {status}')}" for status, n in sorted(found.items())
    )
    note = f"{', '.join(words)}; the last after {max(a.seconds for a in answers):.0f} s"
    if any(status == 0 or status >= 500 for status in found):
        raise BenchmarkError(note)
    return note


def import_wiki_files(servers: Servers, campaign: int, pid: int) -> str:
    """By the page, as people do: upload, confirm, and wait until every document is there."""
    visitor, packed = Visitor(servers.address), io.BytesIO()
    visitor.log_in(LOGIN_S)
    visitor.get("/w/imports/", LOGIN_S)
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(WIKI_FILES):
            archive.writestr(f"docs/faults/{number}.md", f"# Fault {number}\n\nNothing.\n")
    begun = time.monotonic()
    deadline = begun + IMPORT_S
    file = SimpleUploadedFile("faults.zip", packed.getvalue())
    sent = visitor.post("/w/imports/", {"origin": "faults"}, IMPORT_S, file)
    note = [f"the upload was answered {sent.status or 'never'} after {sent.seconds:.1f} s"]
    while sent.to and time.monotonic() < deadline:
        if 'id="confirm"' in visitor.get(sent.to, IMPORT_S).text:
            took = visitor.post(f"{sent.to}confirm/", {}, max(1.0, deadline - time.monotonic()))
            note.append(f"the confirmation {took.status or 'never'} after {took.seconds:.1f} s")
            break
        time.sleep(0.5)
    stored = "SELECT count(*) FROM knowledge_document WHERE path LIKE 'docs/faults/%'"
    whole = f"SELECT 1 WHERE ({stored}) = {WIKI_FILES}"
    there = await_rows(servers, whole, max(1.0, deadline - time.monotonic()))
    took_s = time.monotonic() - begun
    if not there:
        raise BenchmarkError(", ".join([*note, "not all documents came"]))
    return ", ".join([*note, f"all documents were there after {took_s:.1f} s"])


def greedy_harness(servers: Servers, campaign: int, pid: int) -> str:
    """A repository whose benchmark writes to the disk for as long as it is let."""
    folder = servers.folder / "greedy"
    make_repository(folder, {"fill.py": FILL})
    described = servers.folder / "greedy.toml"
    described.write_text(HARNESS)
    servers.manage("repository", "new", str(folder), "--harness", str(described))
    before = most = servers.used_bytes()
    begun = time.monotonic()
    ended: list[tuple[str, str]] = []
    while not ended and time.monotonic() - begun < HARNESS_S:
        most = max(most, servers.used_bytes())
        with suppress(OSError):
            ended = servers.select(TRIED)
        time.sleep(0.1)
    more_mib = (most >> 20) - (before >> 20)
    note = f"at most {more_mib} MiB more on the disk"
    closed = ": ".join(ended[0]) if ended else f"its round did not end within {HARNESS_S:.0f} s"
    if not ended or more_mib > MOST_MIB:
        raise BenchmarkError(f"{note}; {closed}")
    return f"{note}; {closed}"
