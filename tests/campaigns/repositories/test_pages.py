"""The pages of repositories that are optimised by their own harness."""

import subprocess

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from campaigns.devices import turns
from campaigns.devices.discover import ensure_platform, this_device
from campaigns.models import EvaluationState, RepositoryState
from campaigns.models.transitions import claim, move
from campaigns.repositories.hand_in import HandedChange, add_repository, hand_in_change
from campaigns.repositories.models import Repository, RepositoryRound, stored
from campaigns.repositories.own_repository import OwnRepository
from campaigns.repositories.rounds import stop_repository
from campaigns.rules.harness.decide import compare, noise_of
from campaigns.rules.harness.description import read_harness
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.worker import worker_beat
from knowledge.curation.errors import TooManyAtOnce
from tests.campaigns.repositories.projects import ROWS, ROWS_HARNESS, make_repository, patch_of
from tests.campaigns.sample import HOSTILE

BUSY = "You wait for as many problems and repositories as one person may at once"
CLASSES = ("dtype=int32, width=64", "dtype=int32, width=1024")


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    bells = []
    monkeypatch.setattr("campaigns.repositories.pages.notify_next_round", bells.append)
    return bells


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "rows", ROWS)


@pytest.fixture
def rows(folder, db):
    """A repository with its baseline; what its worker would do is written down."""
    row = add_repository(folder, ROWS_HARNESS, ensure_platform(this_device("cpu")))
    result = shown(80.0, 80.0)
    close(row.rounds.get(), Reason.BASELINE, result=stored(result))
    claim(Repository.objects.filter(pk=row.pk), noise=stored(noise_of(result)))
    row.refresh_from_db()
    return row


def test_git_reads_a_repository_in_a_turn_and_in_no_transaction(folder, db, monkeypatch):
    seen, outside = [], len(connection.savepoint_ids)
    bring = OwnRepository.bring

    def watched(self, *asked):
        seen.append((len(connection.savepoint_ids), turns._share.get()))
        return bring(self, *asked)

    monkeypatch.setattr(OwnRepository, "bring", watched)
    person = User.objects.create_superuser("ada")
    platform = ensure_platform(this_device("cpu"))
    row = add_repository(folder, ROWS_HARNESS, platform, by=person)
    assert [(depth, bool(share)) for depth, share in seen] == [(outside, True)]
    assert [path.name for path in OwnRepository(row.pk).path.parent.iterdir()] == [
        f"repository-{row.pk}.git"
    ]
    with turns.turn(person), turns.turn(person), pytest.raises(TooManyAtOnce, match=BUSY):
        add_repository(folder, ROWS_HARNESS, platform, by=person)


def shown(before, after):
    pairs = {name: [(before, after)] * 6 for name in CLASSES}
    return compare(pairs, {name: name for name in CLASSES}, read_harness(ROWS_HARNESS))


def close(row, reason, **more):
    move(row, EvaluationState.RUNNING, started_at=timezone.now())
    move(row, EvaluationState.DONE, reason=reason.value, finished_at=timezone.now(), **more)


def bundle_of(folder) -> bytes:
    command = ["git", "bundle", "create", "-q", "-", "HEAD"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout


def brought(folder, **more):
    device = this_device("cpu")
    worker_beat("tester", device)
    upload = SimpleUploadedFile("rows.bundle", bundle_of(folder))
    wanted = {"bundle": upload, "platform": ensure_platform(device).slug, "harness": ROWS_HARNESS}
    return {**wanted, **more}


def typed(patch, **more):
    said = {"title": f"Blocks {HOSTILE}", "change": "16", "rationale": "fewer", "patch": patch}
    return {**said, **more}


def test_it_brings_an_uploaded_repository(page, folder, rung, engineer):
    assert (
        "benchmark = &quot;python tests/bench.py&quot;"
        in page.get("/repositories/new").content.decode()
    )
    answer = page.post("/repositories/new", brought(folder))
    row = Repository.objects.get()
    assert answer.headers["Location"] == row.get_absolute_url()
    assert (row.created_by, row.source) == (engineer, "upload rows.bundle")
    assert rung == [row]
    body = page.get(row.get_absolute_url()).content.decode()
    assert "The baseline is being measured." in body
    assert 'hx-trigger="every 3s"' in body


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"bundle": SimpleUploadedFile("x", b"no bundle")}, "git fetch:"),
        ({"revision": "--upload-pack=x"}, "accepted: a branch, tag or commit"),
        ({"revision": "none"}, "git fetch:"),
        ({"harness": ROWS_HARNESS.replace("kernels/*", "nothing/*")}, "no file of the repository"),
        ({"harness": ROWS_HARNESS.replace('["kernels/*"]', '["*"]')}, "every file matches"),
        ({"harness": ROWS_HARNESS + HOSTILE}, "accepted: TOML"),
    ],
)
def test_it_says_at_the_field_what_is_wrong_and_keeps_nothing(page, folder, more, words):
    answer = page.post("/repositories/new", brought(folder, **more))
    assert answer.status_code == 422
    body = answer.content.decode()
    assert words in body
    assert "<script>document.title" not in body
    assert not Repository.objects.exists()


def test_it_hands_a_change_in_and_shows_it(page, rows, folder, rung, engineer):
    form = page.get(reverse("repository_change", args=[rows.pk])).content.decode()
    assert f'<option value="{CLASSES[1]}">' in form
    patch = patch_of(folder, "kernels/rows.cpp", "= 8;", "= 16;").replace("\n", "\r\n")
    answer = page.post(reverse("repository_change", args=[rows.pk]), typed(patch))
    made = rows.rounds.get(number=2)
    assert answer.headers["Location"] == made.get_absolute_url()
    assert (made.name, made.kind, made.by, rung) == ("alice", "person", engineer, [rows])
    body = page.get(made.get_absolute_url()).content.decode()
    assert "No verdict yet: waits." in body
    assert "<script>document.title" not in body
    assert '<tr class="add">' in body


@pytest.mark.parametrize(
    ("path", "before", "after", "words"),
    [
        ("Makefile", "-O1", "-O3", "changes Makefile; accepted: files that match kernels/*"),
        ("tests/kernels/test_rows.py", "err,", "0,", "changes tests/kernels/test_rows.py"),
    ],
)
def test_it_refuses_a_change_of_the_harness(page, rows, folder, path, before, after, words):
    patch = patch_of(folder, path, before, after)
    answer = page.post(reverse("repository_change", args=[rows.pk]), typed(patch))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert rows.rounds.count() == 1


@pytest.mark.parametrize("header", ["new file mode 120000", "new file mode 160000"])
def test_it_refuses_a_patch_that_makes_a_link(page, rows, header):
    patch = (
        f"diff --git a/kernels/link b/kernels/link\n{header}\n--- /dev/null\n+++ b/kernels/link\n"
        "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
    )
    answer = page.post(reverse("repository_change", args=[rows.pk]), typed(patch))
    assert answer.status_code == 422
    assert rows.rounds.count() == 1


def test_it_shows_what_was_kept_and_gives_it_as_patch_and_bundle(page, rows, folder):
    assert page.get(reverse("repository_patch", args=[rows.pk])).status_code == 404
    patch = patch_of(folder, "kernels/rows.cpp", "= 8;", "= 16;")
    made = hand_in_change(rows, HandedChange("Blocks", "16", "fewer", patch), "person", "ada")
    own = OwnRepository(rows.pk)
    commit = own.commit(own.patched(rows.base, patch), rows.base, rows.branch, "Blocks\n", 0)
    close(made, Reason.PROMOTED, result=stored(shown(80.0, 40.0)), commit=commit, sentence="fast")
    claim(Repository.objects.filter(pk=rows.pk), head=commit)
    body = page.get(rows.get_absolute_url()).content.decode()
    assert 'data-kept="1"' in body
    assert "2.00× faster" in body
    assert "this is not a proven gain" in body
    shown_round = page.get(made.get_absolute_url()).content.decode()
    assert "2.00× faster" in shown_round
    assert f'Kept as commit <span class="mono">{commit[:12]}</span>' in shown_round
    found = page.get(reverse("repository_patch", args=[rows.pk]))
    assert found.headers["Content-Disposition"] == 'attachment; filename="rows.patch"'
    assert b"+  int block = 16;" in found.content
    assert page.get(reverse("repository_bundle", args=[rows.pk])).content.startswith(b"# v2 git")
    assert "2.00× faster" in page.get("/repositories/").content.decode()


def test_it_stops(page, rows):
    assert page.post(reverse("repository_stop", args=[rows.pk])).status_code == 302
    rows.refresh_from_db()
    assert (rows.state, rows.stop_sentence) == (RepositoryState.STOPPED, "stopped by alice")
    body = page.get(rows.get_absolute_url()).content.decode()
    assert "Stopped: stopped by alice" in body
    assert 'id="hand-in"' not in body


@pytest.mark.parametrize("name", ["new_repository", "repository_change", "repository_stop"])
def test_it_lets_no_viewer_change_anything(viewer, rows, name):
    arguments = [] if name == "new_repository" else [rows.pk]
    assert viewer.post(reverse(name, args=arguments), {}).status_code == 403
    assert RepositoryRound.objects.count() == 1
    body = viewer.get(rows.get_absolute_url()).content.decode()
    assert 'id="hand-in"' not in body
    assert "new-repository" not in viewer.get("/repositories/").content.decode()


@pytest.mark.storage
@pytest.mark.parametrize("table", ["repository", "repositoryround"])
@pytest.mark.parametrize(
    "how", ["UPDATE campaigns_{} SET title = 'mine'", "DELETE FROM campaigns_{}"]
)
def test_r45_what_is_recorded_is_not_rewritten(page, rows, table, how):
    stop_repository(rows)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(how.format(table))


@pytest.mark.storage
def test_r45_a_stopped_repository_takes_no_round(rows):
    stop_repository(rows)
    with pytest.raises(IntegrityError), transaction.atomic():
        RepositoryRound.objects.bulk_create([RepositoryRound(repository=rows, number=2)])
