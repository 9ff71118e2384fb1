"""Hosts without the device build for a search; what they build is screened where it was asked."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from campaigns.devices.processes import new_holder
from campaigns.devices.sweep.loop import SweepWork, build_cache_of
from campaigns.devices.sweep.shared_work import SweepOrders
from campaigns.evaluator.contract import Job, Outcome
from campaigns.evaluator.contract import backends as base
from campaigns.evaluator.contract.stream import BuildFacts, BuildResult, ScreenResult
from campaigns.models import Evaluation, EvaluationKind, EvaluationState, SweepOrder, SweepPoint
from campaigns.models.transitions import move
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.measuring import build_for_search as building
from campaigns.steps.measuring.build_for_search import build_for_search
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.notify import Next, notify
from knowledge.models import Platform
from tests.campaigns.steps import cast
from tests.campaigns.steps.rounds.test_sweep import SCREENED, KnobJudge, tile

pytestmark = pytest.mark.storage

TARGET = "sm_90a"
CARD = replace(cast.DEVICE, target=TARGET)


@pytest.fixture
def search(search: Evaluation, settings: Any, tmp_path: Path) -> Evaluation:
    """The queued search, on a device that other hosts can build for."""
    settings.KOPT_BUILDS = "SHARED"
    settings.DATA_DIR = tmp_path / "data of the device's host"
    Platform.objects.filter(slug=CARD.platform_slug).update(target=TARGET)
    return search


def builds() -> list[Evaluation]:
    return list(Evaluation.objects.filter(kind=EvaluationKind.BUILD).order_by("attempt"))


def compile_all(
    service: object, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
) -> None:
    """A fake of `run_sweep` on a host that only builds: six variants, of which some fail."""
    cache = build_cache_of(job)
    for number, source in work.ask(6):
        if tile(source) not in SCREENED:
            assert not work.built(BuildResult(number, Outcome.BUILD_FAILED, "error: elsewhere"))
            continue
        place = cache.place_of(source)
        place.mkdir(parents=True)
        for name in base.get(job.backend).artefacts:
            (place / name).write_text(f"built of {tile(source)}")
        (place / "facts.json").write_text('{"registers": 77}')
        assert not work.built(BuildResult(number, Outcome.PASSED))
    beat()


class Screen:
    """A fake of `run_sweep` on the device's host; `by` is called until something comes of it."""

    def __init__(self, by: Callable[[], object]) -> None:
        self._by = by
        self.found: list[int] = []
        self.made: list[int] = []

    def __call__(
        self, service: object, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
    ) -> None:
        cache, done = build_cache_of(job), False
        while asked := work.ask(2):
            for number, source in asked:
                facts = cache.find(source)
                if facts is None and tile(source) not in SCREENED:
                    work.built(BuildResult(number, Outcome.BUILD_FAILED, "error: here"))
                    continue
                (self.made if facts is None else self.found).append(number)
                if facts is not None:
                    built = cache.place_of(source) / "candidate.so"
                    assert built.read_text() == f"built of {tile(source)}"
                work.built(BuildResult(number, Outcome.PASSED, facts=facts or BuildFacts()))
                times = {case.name: float(SCREENED[tile(source)]) for case in job.cases}
                work.screened(ScreenResult(number, Outcome.PASSED, times_us=times))
            beat()
            done = done or bool(self._by())


def measure(search: Evaluation, screen: Screen) -> None:
    evaluate(search.pk, replace(cast.make_bench(KnobJudge(), device=CARD), sweep=screen))


def assert_each_point_once() -> None:
    points = list(SweepPoint.objects.all())
    assert len(points) > 4
    assert len({str(point.params) for point in points}) == len(points)
    assert not SweepOrder.objects.exists()


@pytest.fixture
def elsewhere(settings: Any, tmp_path: Path) -> Callable[..., bool]:
    """Build for the search as a host with a data folder of its own does."""

    def build(loop: building.Loop = compile_all) -> bool:
        queued = [one.pk for one in builds() if one.state == EvaluationState.QUEUED]
        here, settings.DATA_DIR = settings.DATA_DIR, tmp_path / "another host"
        try:
            return any(build_for_search(key, "builder", None, loop) for key in queued)
        finally:
            settings.DATA_DIR = here

    return build


def test_what_another_host_builds_is_screened_here(search: Evaluation, elsewhere) -> None:
    screen = Screen(elsewhere)
    measure(search, screen)
    assert_each_point_once()
    assert screen.found
    shared = SweepPoint.objects.filter(facts={"registers": 77})
    assert sorted(screen.found) == [point.number for point in shared]
    assert {point.evaluation_id for point in shared} == {search.pk}
    failed = SweepPoint.objects.filter(reason="error: elsewhere")
    assert {point.evaluation.kind for point in failed} <= {EvaluationKind.BUILD}
    assert shared.count() + failed.count() == 6
    first, *_, last = builds()
    assert (first.outcome, first.reason) == ("passed", "6 variants built.")
    assert (last.state, last.came_to) == (EvaluationState.DONE, "not run")


def test_a_host_with_another_compiler_claims_nothing(
    search: Evaluation, elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "LOOK_S", 0.0)
    real, answers = building.build_cache_of, []

    def other_compiler(job: Job):
        cache = real(job)
        cache._fixed[2] = "another compiler 1.0"
        return cache

    def tried() -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(building, "build_cache_of", other_compiler)
            answers.append(elsewhere())
        answers.append(elsewhere())
        return answers[-1]

    screen = Screen(lambda: answers or tried())
    measure(search, screen)
    assert answers == [False, True]
    assert builds()[0].claims == 1
    assert_each_point_once()


def test_what_a_killed_builder_had_claimed_is_built_here(search: Evaluation) -> None:
    process = subprocess.Popen(["sleep", "600"])
    lost: set[int] = set()

    def claimed_and_killed() -> bool:
        """A process claims variants, and ends by kill -9."""
        name, host, _, token = new_holder("builder").rsplit(" ", 3)
        holder = f"{name} {host} {process.pid} {token}"
        first = builds()[0]
        move(first, EvaluationState.RUNNING, holder=holder, heartbeat_at=timezone.now())
        claimed = SweepOrders(search.candidate.round.sweep).claim(3, first)
        lost.update(order.number for order in claimed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return bool(lost)

    screen = Screen(claimed_and_killed)
    measure(search, screen)
    assert len(lost) == 3
    assert_each_point_once()
    assert SweepPoint.objects.filter(number__in=lost, evaluation=search).count() == 3
    first, second = builds()
    assert (first.outcome, first.reason) == ("broken_host", "worker builder vanished")
    assert second.came_to == "not run"


def test_what_is_too_large_for_a_row_is_built_here(
    search: Evaluation, elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.devices.sweep.build_cache.MOST_PACKED_BYTES", 10)
    screen = Screen(elsewhere)
    measure(search, screen)
    assert (screen.found, bool(screen.made)) == ([], True)
    assert builds()[0].reason == "6 variants built."
    assert_each_point_once()


@pytest.mark.parametrize(("setting", "target"), [("LOCAL", TARGET), ("SHARED", "native")])
def test_builds_stay_here_by_default_and_for_this_very_cpu(
    search: Evaluation, settings: Any, setting: str, target: str
) -> None:
    settings.KOPT_BUILDS = setting
    bench = cast.make_bench(KnobJudge(), device=replace(CARD, target=target))
    evaluate(search.pk, replace(bench, sweep=Screen(lambda: True)))
    assert_each_point_once()
    assert builds() == []


def test_a_lost_ring_is_repeated_for_the_queue_of_builds(
    search: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, holder = timezone.now(), new_holder("tester")
    move(search, EvaluationState.RUNNING, holder=holder, heartbeat_at=now)
    waiting = Evaluation.objects.create(candidate=search.candidate, kind=EvaluationKind.BUILD)
    ((campaign, following),) = reconcile()
    assert following == Next(build=(waiting.pk,))
    sent = []

    class Queue:
        @staticmethod
        def send_task(task: str, **how: object) -> None:
            sent.append((task, how["queue"], how["args"]))

    monkeypatch.setattr("campaigns.steps.notify.current_app", Queue)
    notify(campaign, following)
    assert sent == [("campaigns.tasks.build", "builds", [waiting.pk])]
