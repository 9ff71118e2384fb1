"""Requests that wait for a problem's code are few at once, and hold no database connection."""

import contextlib
import json
import signal
import subprocess
import sys
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from campaigns.devices import problem_code, turns
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError
from knowledge.curation.errors import TooManyAtOnce
from knowledge.curation.tokens import new_token
from knowledge.lookup import database
from knowledge.models.token import Scope
from tests.campaigns.problems.import_.sources import CPP, RELU
from tests.campaigns.views.test_import_problem import TUNING
from tests.evaluator import small

GIVEN = {"file_name": "relu.cpp", "kernel": CPP, "reference": RELU}
CALL = "Relu()(torch.randn(8, 16))"
GRACE, ADA, LINUS = (SimpleNamespace(pk=pk) for pk in (1, 2, 3))
# Another process that has a file open and locked until it is killed.
HOLDS = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=1); input()"


@pytest.fixture
def engineer(db, client):
    person = User.objects.create_user("grace")
    person.groups.add(Group.objects.get(name="engineer"))
    client.force_login(person)
    return person


def by_page(client, person):
    return client.post("/p/new", {**GIVEN, "calls": CALL})


def by_corrected_files(client, person):
    files = {"problem.toml": small.TOML, "ref.py": small.REF, "v0.cpp": str(small.source())}
    sent = {"problem_file": list(files), "problem_text": list(files.values())}
    return client.post("/p/new", sent)


def by_import(client, person):
    files = [SimpleUploadedFile(name, text.encode()) for name, text in TUNING.items()]
    return client.post("/p/import", {"files": files})


def over_http(client, person):
    bearer = {"Authorization": f"Bearer {new_token(person, 'agent', [Scope.RUN])[1]}"}
    client.logout()
    given = json.dumps({**GIVEN, "calls": [CALL]})
    return client.post("/api/v1/problems/", given, "application/json", headers=bearer)


REQUESTS = (by_page, by_corrected_files, by_import, over_http)


def by_command(verb):
    def ask(folder):
        more = ("--reference", folder / "ref.py", "--call", "f(1)") if verb == "new" else ()
        with contextlib.suppress(CommandError):
            call_command("problem", verb, folder / "v0.cpp" if more else folder, *more)

    return ask


def by_worker(folder):
    with contextlib.suppress(ProblemError):
        problem_code.work_model(folder, [Case("n4096", {"N": 4096})])


@pytest.fixture
def asked(monkeypatch):
    """For each time that code would be run: whether the connection was given back, and memory."""
    seen, closed = [], []

    def told(order, memory_bytes):
        seen.append((bool(closed), memory_bytes))
        raise TimeoutError

    pool = SimpleNamespace(in_atomic_block=False, close=lambda: closed.append(1))
    monkeypatch.setattr(database, "connection", pool)
    monkeypatch.setattr(database._Prepared, "known", True)
    monkeypatch.setattr(problem_code, "_told", told)
    return seen


@pytest.mark.parametrize("door", REQUESTS)
def test_a_request_gives_its_connection_back_and_has_a_share_of_memory(
    door, client, engineer, asked
):
    assert door(client, engineer).status_code == 422
    assert asked
    assert all(given_back and memory for given_back, memory in asked)


@pytest.mark.parametrize("door", [by_worker, by_command("show"), by_command("check")])
def test_a_worker_and_a_command_give_theirs_back(door, db, asked, tmp_path):
    door(small.write_problem(tmp_path))
    assert asked == [(True, 0)]


@pytest.mark.parametrize("door", REQUESTS)
def test_a_request_too_many_is_told_when_to_come_back(door, client, engineer, asked):
    with turns.turn(engineer), turns.turn(engineer):
        answer = door(client, engineer)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "10")
    said = "You wait for as many problems and repositories as one person may at once; try again in"
    assert said in answer.content.decode()
    assert asked == []


def test_one_person_has_half_of_the_places_and_all_together_have_all(settings):
    settings.KOPT_RUNNER_MIB = 64 * 1024
    with ExitStack() as held:
        for person in (GRACE, GRACE, ADA, ADA):
            held.enter_context(turns.turn(person))
        for person, words in ((GRACE, "You wait"), (LINUS, "kopt reads")):
            with pytest.raises(TooManyAtOnce, match=words), turns.turn(person):
                pass
    with turns.turn(LINUS):
        pass


@pytest.mark.parametrize("mib", [512, 1024, 3000, 1 << 20])
def test_all_shares_together_are_what_one_candidate_may_take(settings, mib):
    settings.KOPT_RUNNER_MIB = mib
    taken = []
    with ExitStack() as held, contextlib.suppress(TooManyAtOnce):
        for pk in range(100):
            held.enter_context(turns.turn(SimpleNamespace(pk=pk)))
            taken.append(held.enter_context(turns.turn_memory()))
    assert 1 <= len(taken) <= turns.MOST_AT_ONCE
    assert min(512, mib) << 20 <= sum(taken) <= mib << 20


def test_an_error_gives_the_turn_back(settings):
    for _ in range(3 * turns.MOST_AT_ONCE):
        with pytest.raises(KeyboardInterrupt), turns.turn(GRACE):
            raise KeyboardInterrupt


def test_the_turn_of_another_process_counts_until_it_is_killed(settings):
    settings.KOPT_RUNNER_MIB = 1024
    with turns.turn(GRACE):
        pass
    place = settings.DATA_DIR / "turns" / "host-0"
    command = [sys.executable, "-c", HOLDS, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(TooManyAtOnce), turns.turn(GRACE):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
    with turns.turn(GRACE):
        pass
