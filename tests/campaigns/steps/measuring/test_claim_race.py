"""Two workers of one device, on hosts that see no common lock, claim in one moment (R8)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from campaigns.devices.hold import DeviceBusy
from campaigns.models import CampaignState, Evaluation
from campaigns.steps.measuring import evaluate as measuring
from tests.campaigns.steps import cast

pytestmark = [pytest.mark.storage, pytest.mark.django_db(transaction=True)]


@contextmanager
def no_hold(*_: Any, **__: Any) -> Iterator[None]:
    yield


def test_r8_one_of_them_measures_and_the_other_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = []
    for number in range(2):
        campaign = cast.make_campaign(tmp_path / str(number))
        cast.step_until(campaign, CampaignState.BASELINE)
        keys.append(Evaluation.objects.get(candidate__round__campaign=campaign).pk)
    monkeypatch.setattr(measuring, "hold", no_hold)
    monkeypatch.setattr(measuring, "is_here", lambda holder: False)
    looked = threading.Barrier(2)
    real = measuring._refuse_if_taken

    def refuse_slowly(*arguments: Any) -> None:
        """Both would have looked before either has claimed, if nothing kept them apart."""
        real(*arguments)
        try:
            looked.wait(1.0)
        except threading.BrokenBarrierError:
            return

    monkeypatch.setattr(measuring, "_refuse_if_taken", refuse_slowly)
    came_to: dict[int, str] = {}

    def work(key: int, name: str) -> None:
        bench = cast.make_bench(Late(came_to), name)
        try:
            measuring.evaluate(key, bench)
            came_to[key] = "measured"
        except DeviceBusy:
            came_to[key] = "waits"
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(key, f"host-{key}")) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came_to.values()) == ["measured", "waits"]


class Late(cast.Judge):
    """A judge that is not done before the other worker has tried."""

    def __init__(self, came_to: dict[int, str]) -> None:
        super().__init__()
        self.during = lambda job: self._wait(came_to)

    def _wait(self, came_to: dict[int, str]) -> None:
        for _ in range(100):
            if came_to:
                return
            threading.Event().wait(0.1)
