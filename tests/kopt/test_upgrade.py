"""An installation of an earlier kopt is migrated with its rounds, imports and pages.

installation.sqlite3.gz holds scripted campaigns of commit 35b313e0, with the tables of 27 November
2026, at which the migrations begin: a gain that another device did not show and a person's answer;
a review, a restart and an unmasking; a void measurement and a pitfall; a draft with a placeholder;
a trail, requests for passports, and imports.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.kopt.test_migrations import manage

STORED = Path(__file__).parent / "installation.sqlite3.gz"
# Earlier kopts had several workers at one search: one point that another worker has tried, one that
# it tries right now, and a host that waits to build.
SHARED = """
INSERT INTO campaigns_sweep VALUES (1, '[{"name": "K", "values": [1, 2], "default": 1}]', '2',
  'random', 0, '[]', 9, 60.0, '2026-11-01', 14);
INSERT INTO campaigns_evaluation (id, candidate_id, kind, state, attempt, claims, holder, phase,
  outcome, reason, report, created_at, void, void_reasons) VALUES
  (901, 14, 'share', 'done', 1, 1, 'w', '', 'passed', '1 variants tried.', '{}',
    '2026-11-01', '', '[]'),
  (902, 14, 'share', 'running', 2, 1, 'w', 'burst', '', '', '{}', '2026-11-01',
    '', '[]'),
  (903, 14, 'build', 'queued', 1, 0, '', '', '', '', '{}', '2026-11-01', '', '[]');
INSERT INTO campaigns_sweeppoint (sweep_id, evaluation_id, number, params, outcome, reason, time_us,
  times_us, ended_early, facts, build_s, screen_s, at)
  VALUES (1, 901, 1, '{"K": 1}', 'passed', '', 5.0, '{}', 0, '{}', 0, 0, '2026-11-01');
INSERT INTO campaigns_sweeporder (sweep_id, evaluation_id, number, params, source, holder, built,
  screened, digest) VALUES (1, 902, 2, '{"K": 2}', '{}', 'w', '', '', '');
"""
# Runs within the upgraded installation and prints one line of JSON.
ASK = """
import json
from django.contrib.auth.models import User
from django.test import Client
from campaigns.models import Evaluation, ImportedCampaign, Placeholder, Restart, Review
from campaigns.models import Campaign, StandingAnswer, Unmasking, Worker
from campaigns.records.target.ceilings import pitfalls_of
from knowledge.exchange.batches import undo
from knowledge.experience.exchange.plan import plan_import
from knowledge.models import Batch, Experience

cora = User.objects.get(username="cora")
client = Client(SERVER_NAME="localhost")
client.force_login(cora)
pages = [f"/c/{n}/{more}" for n in (1, 2, 3, 4) for more in ("", "rounds/", "report/")]
pages += ["/c/1/r/2/", "/c/3/r/2/", "/c/imported/1/", "/c/imported/1/r/1/", "/workers/"]
pages += ["/w/imports/1/", "/x/imports/1/", "/x/imports/2/"]
statuses = {page: client.get(page, follow=True).status_code for page in pages}
(void,) = Evaluation.objects.exclude(void="")
(answer,), (review,), (restart,) = (m.objects.all() for m in (StandingAnswer, Review, Restart))
(hidden,), (assumed,), (trail,) = (
    m.objects.all() for m in (Unmasking, Placeholder, ImportedCampaign)
)
batches = [
    [b.number, b.state, b.undone_by_name if b.undone_at else "", b.entries.count()]
    for b in Batch.objects.filter(kind="experience").order_by("pk")
]
alone = Experience.objects.filter(standing="counts", track__gains=1).exclude(gain_low=None)
ends = [one.gain_low == one.track.gain_low for one in alone.select_related("track")]
later = plan_import({"experiences.json": "[]"}, None).number
last = Batch.objects.filter(kind="experience", state="confirmed").get()
undo(last, cora, "wrong file")
print(json.dumps({
    "statuses": statuses,
    "void": [void.attempt, void.void[:36], [one["case"] for one in void.void_reasons]],
    "answer": [answer.standing, answer.answer, answer.why, str(answer.by)],
    "review": [review.after, review.streak, review.failures, len(review.directions)],
    "restart": [restart.after, restart.answer, restart.seed, restart.masked],
    "unmasked": hidden.number,
    "assumed": [assumed.question, assumed.value, assumed.reason, str(assumed.by)],
    "pitfalls": [str(one) for one in pitfalls_of(Campaign.objects.get(pk=3))],
    "asked": list(Worker.objects.exclude(asked_at=None).values_list("name", "asked_by__username")),
    "files": sorted(trail.files)[:2] + [len(trail.files)],
    "batches": batches,
    "ends": ends,
    "later": later,
    "helped": list(Evaluation.objects.filter(pk__gt=900).values_list("kind", "state")),
    "withdrawn": Experience.objects.filter(batch=last, standing="withdrawn").count(),
}))
"""


def answer(installation: Path, *words: str) -> str:
    done = manage(installation, *words)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installation")
    (folder / "kopt.sqlite3").write_bytes(gzip.decompress(STORED.read_bytes()))
    with sqlite3.connect(folder / "kopt.sqlite3") as stored:
        # Its rounds are closed and take no new rows: the triggers that see to it are put back.
        sealing = "type = 'trigger' AND sql LIKE '%INSERT%'"
        found = stored.execute(f"SELECT name, sql FROM sqlite_master WHERE {sealing}")
        triggers = found.fetchall()
        for name, _ in triggers:
            stored.execute(f"DROP TRIGGER {name}")
        stored.executescript(SHARED)
        for _, text in triggers:
            stored.execute(text)
    answer(folder, "migrate")
    return folder


@pytest.fixture(scope="module")
def told(upgraded: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer(upgraded, "shell", "-v", "0", "-c", ASK))
    return found


def test_tables_from_before_the_first_migration_are_left_as_they_are(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "kopt.sqlite3") as older:
        older.executescript(
            "CREATE TABLE django_migrations (id integer PRIMARY KEY, app, name, applied datetime);"
            "INSERT INTO django_migrations VALUES "
            "(1, 'knowledge', '0001_initial', '2026-11-01 00:00:00');"
        )
    done = manage(tmp_path, "migrate")
    assert done.returncode == 1
    assert "with commit 036220a0 (tag upgrade-1) of kopt first" in done.stderr
    assert "Traceback" not in done.stderr
    with sqlite3.connect(tmp_path / "kopt.sqlite3") as older:
        named = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'knowledge_%'"
        assert older.execute(named).fetchone() == (0,)


def test_every_page_answers(told: dict[str, Any]) -> None:
    assert set(told["statuses"].values()) == {200}, told["statuses"]


def test_what_had_a_table_of_its_own_is_an_event(told: dict[str, Any]) -> None:
    assert told["answer"] == [5, "not_relied_on", "the twin runs cooler", "alice"]
    assert told["review"] == [3, 2, {"slower": 1, "within_noise": 1}, 6]
    assert told["restart"] == [6, "taken", 13, [4, 5, 6]]
    assert told["unmasked"] == 4
    assert told["assumed"] == ["bandwidth", 1e12, "the sheet comes next week", "cora"]
    assert told["pitfalls"] == ["measured on a busy host: the host was busy"]


def test_what_belongs_to_a_row_is_in_it(told: dict[str, Any]) -> None:
    assert told["void"] == [1, "Device or host did not stay the same", ["one", "two"]]
    # The other request was answered by a passport.
    assert told["asked"] == [["second", "alice"]]
    assert told["files"][2] == 9


def test_a_search_of_several_workers_is_kept_and_waits_for_none(told: dict[str, Any]) -> None:
    assert told["helped"] == [["share", "done"], ["share", "done"], ["build", "done"]]


def test_imports_of_experience_keep_their_numbers(told: dict[str, Any]) -> None:
    first, second = told["batches"]
    assert (first[:3], second[:3]) == ([1, "undone", "alice"], [2, "confirmed", ""])
    assert told["later"] > 2
    assert told["withdrawn"] == second[3] > 0


def test_a_single_attempt_has_its_own_interval(told: dict[str, Any]) -> None:
    assert told["ends"]
    assert all(told["ends"])


@pytest.mark.django_db
def test_its_tables_and_triggers_are_those_of_a_new_installation(upgraded: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a new installation of this run is on another database")
    ours = "(m.name LIKE 'campaigns_%' OR m.name LIKE 'knowledge_%')"
    queries = (
        "SELECT m.type, m.name FROM sqlite_master m "
        f"WHERE m.type IN ('table', 'trigger') AND {ours}",
        'SELECT m.name, c.name, c.type, c."notnull" FROM sqlite_master m, '
        f"pragma_table_info(m.name) c WHERE m.type = 'table' AND {ours}",
    )
    with sqlite3.connect(upgraded / "kopt.sqlite3") as old, connection.cursor() as new:
        for query in queries:
            new.execute(query)
            assert set(old.execute(query)) ^ set(new.fetchall()) == set()
